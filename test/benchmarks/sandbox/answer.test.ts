import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answers } from '../../../benchmarks/sandbox/kit/answer.ts';

const price = { value: '$418.20', distractors: ['$31.00', '$1,418.20', '418.2'] };

test.each(['$418.20', '418.20', 'It costs $418.20.', 'The total is 418.20 dollars'])(
  '%s states $418.20',
  (said) => {
    expect(answers(price, said)).toBe(true);
  },
);

test.each([null, '', '$41.82', '1418.20', '$418.20 or $31.00', 'not stated'])(
  '%s does not state $418.20',
  (said) => {
    expect(answers(price, said)).toBe(false);
  },
);

test('a number is not found inside a longer one', () => {
  expect(answers({ value: '7', distractors: [] }, 'There are 17 open issues')).toBe(false);
  expect(answers({ value: '7', distractors: [] }, 'There are 7 open issues')).toBe(true);
});

test('a value that contains another value of its kind is still right', () => {
  expect(answers({ value: 'Return requested', distractors: ['requested'] }, 'return requested')).toBe(true);
});

test('naming every value of a kind is no answer', () => {
  const words = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(words, ([value = '', ...distractors]) => {
      const key = { value, distractors };
      expect(answers(key, value)).toBe(true);
      expect(answers(key, [value, ...distractors].join(', '))).toBe(false);
    }),
  );
});

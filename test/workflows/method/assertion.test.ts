import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateAssertion } from '../../../workflows/method/assertion.ts';
import { parseAssertion } from '../../../workflows/method/parse-assertion.ts';
import { foldText, taskTerms } from '../../../workflows/method/task-terms.ts';
import type { ActionTaken, AssertionNode, SeenAtState } from '../../../workflows/method/types.ts';
import { urlState } from '../../../workflows/method/url-state.ts';
import { cases } from './arbitraries.ts';

const seen: SeenAtState = {
  instruction:
    'Send "Quarterly  report" to jane@doe.example before 2026-03-01, at most 42 lines. Ask Anna Lee about it.',
  pages: [urlState('https://mail.example/inbox/7'), urlState('https://mail.example/inbox/9')],
  steps: [
    {
      tool: 'click',
      target: { role: 'button', name: 'Compose' },
      value: null,
      ok: true,
      url: 'https://mail.example/',
    },
    {
      tool: 'type',
      target: { role: 'textbox', name: 'To' },
      value: 'jane@doe.example',
      ok: true,
      url: 'https://mail.example/inbox/7',
    },
    {
      tool: 'type',
      target: { role: 'textbox', name: 'Subject' },
      value: 'quarterly report',
      ok: false,
      url: 'https://mail.example/inbox/9',
    },
  ],
  elements: [
    { role: 'textbox', name: 'To', value: 'jane@doe.example', text: '' },
    { role: 'textbox', name: 'Body', value: '', text: '' },
    { role: 'alert', name: '', value: null, text: 'Subject is   missing' },
  ],
  text: 'New message\nto Anna Lee',
  answer: null,
};

const holds = (root: AssertionNode, at: SeenAtState = seen) => evaluateAssertion({ version: 1, root }, at);
const typed: ActionTaken = { op: 'actionTaken', tool: 'type' };
const clicked: ActionTaken = { op: 'actionTaken', tool: 'click' };
const stopped: ActionTaken = { op: 'actionTaken', tool: 'stop' };
const ordered = (first: ActionTaken, second: ActionTaken): AssertionNode => ({
  op: 'before',
  first,
  // biome-ignore lint/suspicious/noThenProperty: the name is METHOD's.
  then: second,
});

describe('executable assertions (METHOD 1.5)', () => {
  test.each<[string, AssertionNode, boolean]>([
    ['any page of the state counts', { op: 'urlMatches', glob: 'mail.example/inbox/7' }, true],
    ['another page does not', { op: 'urlMatches', glob: 'mail.example/sent*' }, false],
    ['the path key is templated', { op: 'pathKeyIs', key: 'mail.example/inbox/:n' }, true],
    [
      'spaces and case are folded',
      { op: 'elementText', role: 'alert', contains: 'SUBJECT is missing' },
      true,
    ],
    ['without role and name the page text counts', { op: 'elementText', contains: 'new message to' }, true],
    ['with a role only elements count', { op: 'elementText', role: 'alert', contains: 'new message' }, false],
    ['a task term is any of the terms', { op: 'elementText', contains: '$taskTerm' }, true],
    ['a field has a value', { op: 'fieldValue', label: 'to', equals: '$taskTerm' }, true],
    ['a field contains', { op: 'fieldValue', label: 'To', contains: '@doe' }, true],
    ['a field is empty', { op: 'fieldValue', label: 'Body', empty: true }, true],
    ['a filled field is not empty', { op: 'fieldValue', label: 'To', empty: false }, true],
    ['an element without a value is no field', { op: 'fieldValue', label: '', empty: true }, false],
    ['an action was taken', { ...typed, target: 'Subject', value: '$taskTerm' }, true],
    ['but it was refused', { ...typed, target: 'Subject', ok: true }, false],
    ['no answer was given', { op: 'answerGiven' }, false],
    ['three steps', { op: 'stepsAtLeast', n: 3 }, true],
    ['not four', { op: 'not', node: { op: 'stepsAtLeast', n: 4 } }, true],
    ['two were typed', { op: 'count', of: typed, atLeast: 2 }, true],
    ['not three', { op: 'count', of: typed, atLeast: 3 }, false],
    ['first compose, then type', ordered(clicked, typed), true],
    ['not the other way', ordered(typed, clicked), false],
    ['never before what never came', ordered(typed, stopped), false],
  ])('%s', (_, node, expected) => {
    expect(holds(node)).toBe(expected);
  });

  test('an answer is only seen where it was given', () => {
    expect(holds({ op: 'answerContains', text: 'anna' }, { ...seen, answer: 'It is Anna  Lee.' })).toBe(true);
    expect(holds({ op: 'answerContains', text: 'anna lee' }, { ...seen, answer: null })).toBe(false);
  });

  test('task terms are quoted strings, e-mail addresses, dates, numbers and capitalised runs', () => {
    const terms = taskTerms(seen.instruction).map(foldText);
    for (const term of ['quarterly report', 'jane@doe.example', '2026-03-01', '42', 'anna lee']) {
      expect(terms).toContain(term);
    }
    expect(terms).not.toContain('send');
    expect(taskTerms("Don't open Anna's mail on March 3, 2026")).toEqual(
      expect.arrayContaining(["Anna's", 'March 3, 2026']),
    );
  });

  test('a quoted string is a term whatever it is, unless it is blank', () => {
    const text = fc.string({ minLength: 1 }).filter((s) => !/["“”‘’']/.test(s) && s.trim() !== '');
    fc.assert(
      fc.property(text, (quoted) => {
        expect(taskTerms(`Find "${quoted}" now`).map(foldText)).toContain(foldText(quoted));
      }),
      cases,
    );
  });
});

const text = fc.string({ minLength: 1 }).filter((s) => s.trim() !== '');
const optional = { requiredKeys: ['op', 'tool'] } satisfies { requiredKeys: ('op' | 'tool')[] };
const action: fc.Arbitrary<ActionTaken> = fc.record(
  {
    op: fc.constant('actionTaken' as const),
    tool: fc.constantFrom('click', 'type'),
    target: fc.constantFrom('To', '$taskTerm'),
    value: text,
    ok: fc.boolean(),
  },
  optional,
);
const leaf: fc.Arbitrary<AssertionNode> = fc.oneof(
  action,
  fc.record({ op: fc.constant('urlMatches' as const), glob: text }),
  fc.record({ op: fc.constant('elementText' as const), contains: text }),
  fc.record({ op: fc.constant('fieldValue' as const), label: text, empty: fc.boolean() }),
  fc.record({ op: fc.constant('fieldValue' as const), label: text, equals: text }),
  fc.record({ op: fc.constant('answerGiven' as const) }),
  fc.record({ op: fc.constant('stepsAtLeast' as const), n: fc.nat(5) }),
  fc.record({ op: fc.constant('count' as const), of: action, atLeast: fc.nat(3) }),
  fc.tuple(action, action).map(([first, second]) => ordered(first, second)),
);
const tree: fc.Arbitrary<AssertionNode> = fc.letrec<{ node: AssertionNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({
      op: fc.constant('and' as const),
      all: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ op: fc.constant('or' as const), any: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ op: fc.constant('not' as const), node: tie('node') }),
  ),
})).node;

describe('assertions as documents', () => {
  test('every assertion survives JSON and answers as before', () => {
    fc.assert(
      fc.property(tree, (root) => {
        const read = parseAssertion(JSON.parse(JSON.stringify({ version: 1, root })));
        expect(read).toEqual({ version: 1, root });
        expect(evaluateAssertion(read, seen)).toBe(holds(root));
      }),
      cases,
    );
  });

  test('the combinators obey De Morgan', () => {
    const not = (node: AssertionNode): AssertionNode => ({ op: 'not', node });
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        expect(holds(not({ op: 'and', all: [a, b] }))).toBe(holds({ op: 'or', any: [not(a), not(b)] }));
      }),
      cases,
    );
  });

  test.each([
    [{ version: 2, root: { op: 'answerGiven' } }, 'assertion.version must be 1'],
    [
      { version: 1, root: { op: 'regExp', source: '.*' } },
      'assertion.root.op must be a node of assertion version 1',
    ],
    [
      { version: 1, root: { op: 'and', all: [{ op: 'answerGiven', x: 1 }] } },
      'assertion.root.all[0].x must be absent',
    ],
    [{ version: 1, root: { op: 'and', all: [] } }, 'assertion.root.all must be a non-empty list'],
    [{ version: 1, root: { op: 'urlMatches' } }, 'assertion.root.glob must be present'],
    [{ version: 1, root: { op: 'stepsAtLeast', n: -1 } }, 'assertion.root.n must be a whole number'],
    [{ version: 1, root: { op: 'count', of: { op: 'answerGiven' }, atLeast: 1 } }, 'assertion.root.of'],
    [{ version: 1, root: { op: 'fieldValue', label: 'a', equals: 'b', contains: 'c' } }, 'exactly one of'],
    ['{}', 'assertion must be an object'],
  ])('%j is refused', (json, message) => {
    expect(() => parseAssertion(json)).toThrow(message);
  });
});

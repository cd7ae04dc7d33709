import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, digestOf, toStorable } from '../../bank-store/canonical-json.ts';

/** JSON values with strings that JSON text keeps as they are. */
const json = fc
  .jsonValue({ noUnicodeString: false })
  .filter((value) => !/\\u0000/.test(JSON.stringify(value)));

test('canonical JSON parses to the value it was made of', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(withOneZero(value));
    }),
  );
});

test('the order in which fields were set changes no digest', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), json), (fields) => {
      const reversed = Object.fromEntries(Object.entries(fields).reverse());
      expect(digestOf(reversed)).toBe(digestOf(fields));
    }),
  );
});

test('any string can be stored: NUL and lone surrogates become the replacement character', () => {
  const text = fc.array(fc.constantFrom('a', '\0', '\ud83d', '\ude00', 'é')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (given) => {
      const stored = toStorable(given);
      expect(stored).toBe(JSON.parse(canonicalJson(given)));
      expect(stored).toHaveLength(given.length);
      expect(String(stored).isWellFormed() && !String(stored).includes('\0')).toBe(true);
    }),
  );
});

test.each([
  ['NaN', { score: Number.NaN }, '$.score is NaN'],
  ['infinity', { steps: [{ ms: Number.POSITIVE_INFINITY }] }, '$.steps[0].ms is Infinity'],
  ['a Map', { seen: new Map() }, '$.seen is a Map'],
  ['a date', [new Date(0)], '$[0] is a Date'],
  ['a function', { f: () => 1 }, '$.f is of type function'],
  ['a bigint', 1n, '$ is of type bigint'],
])('%s is refused with its path, not changed in silence', (_, value, message) => {
  expect(() => canonicalJson(value)).toThrow(message);
});

test('absent fields are left out', () => {
  expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
});

/** JSON.stringify writes -0 as 0. */
function withOneZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

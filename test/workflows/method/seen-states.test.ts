import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seenStates } from '../../../workflows/method/seen-states.ts';
import { urlState } from '../../../workflows/method/url-state.ts';
import { cases } from './arbitraries.ts';

const address = fc.constantFrom(
  'https://a.example/x/1',
  'https://a.example/x/2',
  'https://a.example/y',
  'https://b.example/',
);

/** One page for every step and one after the last; each page's text and each step's value say their index. */
const trajectory = fc.array(address, { minLength: 1, maxLength: 8 }).chain((urls) =>
  fc.record({
    instruction: fc.constant('Do it'),
    pages: fc.constant(urls.map((url, i) => ({ url, elements: [], text: `page ${i}` }))),
    steps: fc.constant(
      urls.slice(0, -1).map((url, i) => ({ tool: 'click', target: null, value: `step ${i}`, ok: true, url })),
    ),
    answer: fc.option(fc.constant('42')),
  }),
);

describe('what a question sees (METHOD 1.4)', () => {
  test('every distinct path key is one state, in the order of the first visit', () => {
    fc.assert(
      fc.property(trajectory, (t) => {
        const keys = t.pages.map((page) => urlState(page.url).pathKey);
        expect(seenStates(t).map(({ state }) => state.pathKey)).toEqual([...new Set(keys)]);
      }),
      cases,
    );
  });

  test('a state shows its last observation and no step taken after the last one in it', () => {
    fc.assert(
      fc.property(trajectory, (t) => {
        for (const { state, seen } of seenStates(t)) {
          const isHere = (url: string): boolean => urlState(url).pathKey === state.pathKey;
          const lastVisit = t.pages.findLastIndex((page) => isHere(page.url));
          const lastStep = t.steps.findLastIndex((step) => isHere(step.url));
          expect(seen.text).toBe(`page ${lastVisit}`);
          expect(seen.pages.every((page) => page.pathKey === state.pathKey)).toBe(true);
          const shown = lastStep >= 0 ? lastStep + 1 : lastVisit;
          expect(seen.steps.map((step) => step.value)).toEqual(
            t.steps.slice(0, shown).map((step) => step.value),
          );
        }
      }),
      cases,
    );
  });

  test('the answer is seen only in the state of the last step', () => {
    fc.assert(
      fc.property(trajectory, (t) => {
        const last = t.steps.at(-1);
        for (const { state, seen } of seenStates(t)) {
          const givenHere = last !== undefined && urlState(last.url).pathKey === state.pathKey;
          if (t.steps.length > 0) expect(seen.answer).toBe(givenHere ? t.answer : null);
        }
      }),
      cases,
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify } from '../../../workflows/method/certify.ts';
import { groupEvidence } from '../../../workflows/method/group-evidence.ts';
import { emptyTracker, explainUpdate, updateTracker } from '../../../workflows/method/tracker.ts';
import type { Tracker, TrackerObservation } from '../../../workflows/method/types.ts';
import {
  answer,
  cases,
  cell,
  group,
  history,
  informativeHistory,
  observation,
  paper,
  polarity,
  score,
  shuffled,
  sign,
  track,
} from './arbitraries.ts';
import { expectClose } from './close.ts';

const additive = [
  ...(['n', 'n1', 'n0', 'S1', 'S0', 'groups', 'informative', 'sumC', 'sumV', 'agreeErr'] as const),
  ...(['logWp', 'logWm', 'hist'] as const),
];

const pick = (tracker: Tracker, fields: readonly (keyof Tracker)[]): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field, tracker[field]]));

/** Every assignment of the answers to the scores, each equally likely under the null of METHOD 2.4. */
function assignments(answers: readonly number[]): number[][] {
  if (answers.length <= 1) return [[...answers]];
  return answers.flatMap((first, i) =>
    assignments(answers.filter((_, k) => k !== i)).map((rest) => [first, ...rest]),
  );
}

const smallGroup = fc.integer({ min: 1, max: 5 }).chain((m) =>
  fc.record({
    answers: fc.array(answer, { minLength: m, maxLength: m }),
    scores: fc.array(score, { minLength: m, maxLength: m }),
  }),
);

describe('group evidence', () => {
  test('its mean over all assignments of the answers is 0, so that every bet on it is fair', () => {
    fc.assert(
      fc.property(smallGroup, fc.constantFrom(...paper.grid), ({ answers, scores }, lambda) => {
        const xs = assignments(answers).map(
          (assigned) =>
            groupEvidence(
              scores.map((judge, i) => ({ pYes: assigned[i] ?? 0, judge })),
              paper,
            ).x,
        );
        const meanOf = (values: number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
        expect(Math.abs(meanOf(xs))).toBeLessThan(1e-12);
        expectClose(meanOf(xs.map((x) => 1 + lambda * x)), 1);
      }),
      cases,
    );
  });

  test('|x| is at most 1, and the bound B holds for every assignment', () => {
    fc.assert(
      fc.property(smallGroup, ({ answers, scores }) => {
        const all = assignments(answers).map((assigned) =>
          groupEvidence(
            scores.map((judge, i) => ({ pYes: assigned[i] ?? 0, judge })),
            paper,
          ),
        );
        for (const { x, C, B } of all) {
          expect(Math.abs(x)).toBeLessThanOrEqual(1);
          expect(Math.abs(C)).toBeLessThanOrEqual(B + 1e-12);
        }
        const largest = Math.max(...all.map(({ C }) => Math.abs(C)));
        expectClose(largest, all[0]?.B ?? 0);
      }),
      cases,
    );
  });
});

describe('tracker', () => {
  test('the order of the observations inside a group does not matter', () => {
    const shuffledGroups = informativeHistory.chain((groups) =>
      fc.tuple(fc.constant(groups), fc.tuple(...groups.map((members) => shuffled(members)))),
    );
    fc.assert(
      fc.property(sign, shuffledGroups, (polarityOf, [groups, mixed]) => {
        expectClose(track(polarityOf, mixed), track(polarityOf, groups));
      }),
      cases,
    );
  });

  test('the order of the groups leaves every additive field as it is', () => {
    const reordered = history.chain((groups) => fc.tuple(fc.constant(groups), shuffled(groups)));
    fc.assert(
      fc.property(polarity, reordered, (polarityOf, [groups, mixed]) => {
        expectClose(pick(track(polarityOf, mixed), additive), pick(track(polarityOf, groups), additive));
      }),
      cases,
    );
  });

  test('polarity +1 on answers a equals polarity -1 on answers 1-a, with the lift negated', () => {
    const flip = ({ pYes, judge }: TrackerObservation): TrackerObservation => ({ pYes: 1 - pYes, judge });
    fc.assert(
      fc.property(fc.oneof(history, informativeHistory), (groups) => {
        const [plus, minus] = [
          track(1, groups),
          track(
            -1,
            groups.map((members) => members.map(flip)),
          ),
        ];
        const [a, b] = [certify(plus, paper), certify(minus, paper)];
        expectClose({ ...b, lift: null, weight: 0 }, { ...a, lift: null, weight: 0 });
        expectClose(b.lift, a.lift === null ? null : -a.lift);
        expectClose(b.weight, -a.weight);
        expect(minus.hist).toEqual(plus.hist);
        expect(minus.alpha).toBe(plus.alpha);
      }),
      cases,
    );
  });

  test('a group with equal answers or equal scores changes neither E, alpha, histogram nor z', () => {
    const uninformative = fc.oneof(
      fc
        .tuple(answer, fc.array(score, { minLength: 1, maxLength: 8 }))
        .map(([pYes, scores]) => scores.map((judge) => ({ pYes, judge }))),
      fc
        .tuple(score, fc.array(answer, { minLength: 1, maxLength: 8 }))
        .map(([judge, answers]) => answers.map((pYes) => ({ pYes, judge }))),
    );
    fc.assert(
      fc.property(polarity, history, uninformative, (polarityOf, groups, extra) => {
        const before = track(polarityOf, groups);
        const { tracker: after, forecast, x } = explainUpdate(before, extra, paper);
        const untouched = [
          'logWp',
          'logWm',
          'alpha',
          'hist',
          'ewX',
          'ewQ',
          'aciT',
        ] satisfies (keyof Tracker)[];
        expect(pick(after, untouched)).toEqual(pick(before, untouched));
        expect([forecast, x]).toEqual([null, 0]);
        expect(after.n).toBe(before.n + extra.length);
      }),
      cases,
    );
  });

  test('moving and stretching all scores leaves x, E, z and alpha, and stretches the lift', () => {
    const scaling = fc
      .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 10 }))
      .map(([k, c]) => ({ k: k / 10, c: (c / 10) * (1 - k / 10) }));
    fc.assert(
      fc.property(sign, fc.oneof(history, informativeHistory), scaling, (polarityOf, groups, { k, c }) => {
        const scaled = groups.map((members) =>
          members.map((o) => ({ pYes: o.pYes, judge: c + k * o.judge })),
        );
        const [a, b] = [certify(track(polarityOf, groups), paper), certify(track(polarityOf, scaled), paper)];
        expectClose([b.logE, b.logEminus, b.z, b.alpha], [a.logE, a.logEminus, a.z, a.alpha], 1e-8);
        expectClose(b.lift, a.lift === null ? null : k * a.lift, 1e-8);
      }),
      cases,
    );
  });

  test('the fields that count stay consistent with each other', () => {
    fc.assert(
      fc.property(polarity, history, (polarityOf, groups) => {
        const t = track(polarityOf, groups);
        expect(t.n).toBe(t.n1 + t.n0);
        expect(t.informative).toBeLessThanOrEqual(t.groups);
        expect(t.hist.reduce((sum, seen) => sum + seen, 0)).toBe(polarityOf === 0 ? 0 : t.informative);
        expect(t.aciT).toBe(polarityOf === 0 ? 0 : Math.max(0, t.informative - paper.aciWarmup));
        expect(t.aciErr).toBeLessThanOrEqual(t.aciT);
        expect(t.agreeErr).toBeLessThanOrEqual(t.n);
      }),
      cases,
    );
  });

  test('a group without observations is the tracker itself', () => {
    const before = track(1, [[{ pYes: 1, judge: 0.5 }]]);
    expect(updateTracker(before, [], paper)).toBe(before);
  });

  test('the state before an update is not touched by it', () => {
    fc.assert(
      fc.property(history, group, (groups, extra) => {
        const before = track(1, groups);
        const copy = structuredClone(before);
        updateTracker(before, extra, paper);
        expect(before).toEqual(copy);
      }),
      cases,
    );
  });

  test('an answer or score outside [0, 1] is refused by name', () => {
    const outside = fc.oneof(
      fc.double({ max: -Number.MIN_VALUE }),
      fc.double({ min: 1.0000000000000002 }),
      fc.constant(Number.NaN),
    );
    const empty = emptyTracker({ ...cell, polarity: 1 }, paper);
    fc.assert(
      fc.property(
        fc.array(observation, { maxLength: 7 }),
        outside,
        fc.boolean(),
        (others, value, isAnswer) => {
          const bad = isAnswer ? { pYes: value, judge: 0.5 } : { pYes: 1, judge: value };
          const name = isAnswer ? 'pYes' : 'judge';
          expect(() => updateTracker(empty, [...others, bad], paper)).toThrow(`${name} must be from 0 to 1`);
        },
      ),
      cases,
    );
  });
});

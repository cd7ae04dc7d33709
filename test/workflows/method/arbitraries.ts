import fc from 'fast-check';
import { paperHyperparameters } from '../../../workflows/method/hyperparameters.ts';
import { emptyTracker, updateTracker } from '../../../workflows/method/tracker.ts';
import type { Cell, Polarity, Tracker, TrackerObservation } from '../../../workflows/method/types.ts';

export const paper = paperHyperparameters;

/** Runs of every property here: METHOD's laws are checked on at least 1,000 cases each. */
export const cases = { numRuns: 1000 };

export const cell: Cell = { qid: 'q', version: 1, tier: 'global', key: '*' };

/** Thousandths, and often tenths, which hit thresholds and bin edges exactly. */
export const score = fc.oneof(
  fc.integer({ min: 0, max: 1000 }).map((n) => n / 1000),
  fc.integer({ min: 0, max: 10 }).map((n) => n / 10),
);

export const answer = fc.constantFrom(0, 1);

export const observation: fc.Arbitrary<TrackerObservation> = fc.record({ pYes: answer, judge: score });

export const group = fc.array(observation, { minLength: 1, maxLength: 8 });

export const history = fc.array(group, { maxLength: 12 });

export const sign = fc.constantFrom<1 | -1>(1, -1);

export const polarity = fc.constantFrom<Polarity>(1, -1, 0);

/** A history in which YES goes with the judge's favour, long enough to certify and to forecast. */
export const informativeHistory = fc
  .record({
    groups: fc.array(
      fc.array(fc.record({ high: fc.boolean(), noise: fc.integer({ min: 0, max: 400 }), flip: fc.nat(9) }), {
        minLength: 4,
        maxLength: 8,
      }),
      { minLength: 12, maxLength: 24 },
    ),
  })
  .map(({ groups }) =>
    groups.map((members) =>
      members.map(({ high, noise, flip }) => ({
        pYes: high === flip > 0 ? 1 : 0,
        judge: ((high ? 500 : 100) + noise) / 1000,
      })),
    ),
  );

export function track(polarityOf: Polarity, groups: readonly (readonly TrackerObservation[])[]): Tracker {
  return groups.reduce(
    (tracker: Tracker, observations) => updateTracker(tracker, observations, paper),
    emptyTracker({ ...cell, polarity: polarityOf }, paper),
  );
}

export function shuffled<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
}

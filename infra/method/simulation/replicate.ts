import { certify } from '../../../workflows/method/certify.ts';
import { roundingSlack } from '../../../workflows/method/checks.ts';
import { paperHyperparameters as paper } from '../../../workflows/method/hyperparameters.ts';
import { type RandomGenerator, randomGenerator } from '../../../workflows/method/random.ts';
import { emptyTracker, updateTracker } from '../../../workflows/method/tracker.ts';
import type { CertifierRule, Polarity, Tracker } from '../../../workflows/method/types.ts';
import type { GroupGenerator } from './generators.ts';

/** Observations at which METHOD's tables are read; a look is taken at the first full group from there on. */
export const columns = [50, 100, 200, 500, 1000, 2000] as const;

export const lastObservation = 2000;

/** Certified under a rule, everything else as in the paper preset. */
export const certifiedBy =
  (certifier: CertifierRule) =>
  (tracker: Tracker): boolean =>
    certify(tracker, { ...paper, certifier }).reasons.length === 0;

/** METHOD 2.6, tables marked "naive, cumulative": the naive rule without forgetting, which is not shipped. */
export const certifiedNaivelyForEver = ({ n, n1, n0, S1, S0, polarity }: Tracker): boolean =>
  n >= paper.nMin && n1 > 0 && n0 > 0 && polarity * (S1 / n1 - S0 / n0) >= paper.liftMin - roundingSlack;

export const vetoed = (tracker: Tracker): boolean => certify(tracker, paper).vetoed;

export function freshTracker(polarity: Polarity): Tracker {
  return emptyTracker({ qid: 'q', version: 1, tier: 'global', key: '*', polarity }, paper);
}

export function advance(tracker: Tracker, groups: GroupGenerator, random: RandomGenerator): Tracker {
  return updateTracker(tracker, groups(random), paper);
}

/** One replicate has its own stream, so that neither their order nor their number changes any of them. */
export const streamOf = (experiment: string, row: string, replicate: number): RandomGenerator =>
  randomGenerator(['simulate', experiment, row, replicate]);

/**
 * Looks after every group and notes, for each event, the number of observations at which it first held; null if
 * it never did up to 2,000. Stops once nothing is left to see.
 */
export function firstTimes(
  groups: GroupGenerator,
  polarity: Polarity,
  random: RandomGenerator,
  events: readonly ((tracker: Tracker) => boolean)[],
): (number | null)[] {
  const first = events.map((): number | null => null);
  let tracker = freshTracker(polarity);
  while (tracker.n < lastObservation && first.includes(null)) {
    tracker = advance(tracker, groups, random);
    for (const [i, event] of events.entries()) if (first[i] === null && event(tracker)) first[i] = tracker.n;
  }
  return first;
}

/** Share of replicates in which the event held by each column, for groups of 8. */
export function sharesByColumn(times: readonly (number | null)[]): number[] {
  return columns.map((n) => {
    const look = Math.ceil(n / 8) * 8;
    return times.filter((time) => time !== null && time <= look).length / times.length;
  });
}

/** Of times, with "never" after all of them; null where the quantile is a "never". */
export function quantile(times: readonly (number | null)[], share: number): number | null {
  const sorted = times.map((time) => time ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const value =
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(value) ? value : null;
}

import { unit } from './checks.ts';
import { hardAnswer } from './group-evidence.ts';
import type { Tracker, TrackerObservation } from './types.ts';

/** METHOD 2.2: the decayed lift, null while one of the answers has not occurred. */
export function trackedLift(t: Pick<Tracker, 'ewN1' | 'ewN0' | 'ewS1' | 'ewS0'>): number | null {
  return t.ewN1 > 0 && t.ewN0 > 0 ? t.ewS1 / t.ewN1 - t.ewS0 / t.ewN0 : null;
}

/** METHOD 2.1: mean score of the YES rollouts minus that of the NO rollouts; null if either is missing. */
export function plainLift(observations: readonly TrackerObservation[]): number | null {
  const scores = [
    [0, 0],
    [0, 0],
  ] satisfies [number, number][];
  for (const { pYes, judge } of observations) {
    const side = scores[hardAnswer(unit('pYes', pYes))];
    if (!side) continue;
    side[0] += 1;
    side[1] += unit('judge', judge);
  }
  const [[n0, s0] = [0, 0], [n1, s1] = [0, 0]] = scores;
  return n1 > 0 && n0 > 0 ? s1 / n1 - s0 / n0 : null;
}

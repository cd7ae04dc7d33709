import { finite, unit } from './checks.ts';
import { hardAnswer } from './group-evidence.ts';
import { mean } from './mean.ts';
import type { Tracker, TrackerObservation } from './types.ts';

/** METHOD 2.2: the decayed lift, null while one of the answers has not occurred. */
export function trackedLift(t: Pick<Tracker, 'ewN1' | 'ewN0' | 'ewS1' | 'ewS0'>): number | null {
  if (!(t.ewN1 > 0 && t.ewN0 > 0)) return null;
  return finite('lift', t.ewS1 / t.ewN1 - t.ewS0 / t.ewN0);
}

/** METHOD 2.1: mean score of the YES rollouts minus that of the NO rollouts; null if either is missing. */
export function plainLift(observations: readonly TrackerObservation[]): number | null {
  const meanScore = (answer: 0 | 1): number | null => {
    const given = observations.filter((o) => hardAnswer(unit('pYes', o.pYes)) === answer);
    return mean(given.map((o) => unit('judge', o.judge)));
  };
  const [yes, no] = [meanScore(1), meanScore(0)];
  return yes === null || no === null ? null : yes - no;
}

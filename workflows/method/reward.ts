import { unit, within } from './checks.ts';

/**
 * METHOD 4.2: r = j + beta max(0, R_VQ), so j <= r <= j + beta. `judge` is the step score, or the trajectory's
 * where the judge gave none; the verifier score is that of the URL state in which the step was taken.
 */
export function stepReward(judge: number, verifierScore: number, beta: number): number {
  return (
    unit('judge', judge) + unit('beta', beta) * Math.max(0, within('verifierScore', verifierScore, -1, 1))
  );
}

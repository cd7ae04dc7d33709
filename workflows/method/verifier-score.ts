import { unit, within } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';

/** A certified question with a valid answer at the state; others are left out. */
export interface WeightedAnswer {
  readonly weight: number;
  readonly pYes: number;
}

/**
 * METHOD 4.1: R_VQ in [-1, 1], 0 without answers. `max1` keeps the magnitude of the weights while little is
 * certified; `sumAbs` is always the weighted mean.
 */
export function verifierScore(
  answers: readonly WeightedAnswer[],
  options: Pick<Hyperparameters, 'normaliser' | 'verifierScoreMode'>,
): number {
  let [score, total] = [0, 0];
  for (const { weight, pYes } of answers) {
    within('weight', weight, -1, 1);
    unit('pYes', pYes);
    score += weight * (options.verifierScoreMode === 'signed' ? 2 * pYes - 1 : pYes);
    total += Math.abs(weight);
  }
  if (total === 0) return 0;
  return score / (options.normaliser === 'max1' ? Math.max(1, total) : total);
}

import { unit } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';
import { meanAndDeviation } from './mean.ts';

export type AdvantageConstants = Pick<Hyperparameters, 'sdMin' | 'advEps' | 'minStratum'>;

/**
 * METHOD 4.4: the GRPO baseline, one advantage a rollout from the trajectory scores of its group. All zeros when
 * the scores do not differ or the group has fewer than two members.
 */
export function grpoAdvantages(scores: readonly number[], constants: AdvantageConstants): number[] {
  for (const score of scores) unit('trajectory score', score);
  return standardise(scores, { ...constants, minStratum: 2 }) ?? scores.map(() => 0);
}

/** Standardised values of a stratum; null where it is too small or does not vary. */
export function standardise(values: readonly number[], constants: AdvantageConstants): number[] | null {
  if (values.length < Math.max(2, constants.minStratum)) return null;
  const { mean, deviation } = meanAndDeviation(values);
  if (!(deviation > constants.sdMin)) return null;
  return values.map((value) => (value - mean) / (deviation + constants.advEps));
}

import { within } from './checks.ts';
import { mean } from './mean.ts';

/**
 * METHOD 5.1: trajectory evidence V, the mean unclipped verifier score over the distinct URL states of a rollout,
 * one score a state. A rollout without URL states has evidence 0.
 */
export function trajectoryEvidence(scoresByState: readonly number[]): number {
  return mean(scoresByState.map((score) => within('verifierScore', score, -1, 1))) ?? 0;
}

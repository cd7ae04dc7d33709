import type { FinishedRollout } from '../bank-store/contract.ts';
import type { RolloutSummary } from './contracts.ts';

/** What a workflow is told of a finished rollout, whoever finished it. */
export function summariseRollout(rolloutId: string, finished: FinishedRollout): RolloutSummary {
  const { attempt, outcome, stopReason, steps, trajectoryDigest } = finished;
  return { rolloutId, attempt, outcome, stopReason, steps, trajectoryDigest };
}

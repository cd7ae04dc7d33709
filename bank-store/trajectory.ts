import type { AttemptEnding, StepRecord } from './contract.ts';

/**
 * Everything about a trajectory that does not depend on clocks or pixels; its canonical JSON is the blob
 * `trajectoryDigest`, so that an audit can hash it again.
 */
export const trajectoryDocument = (taskId: string, steps: readonly StepRecord[], ending: AttemptEnding) => ({
  version: 1,
  taskId,
  steps: steps.map(({ screenshotDigest, decideMs, actMs, settleMs, observeMs, ...kept }) => kept),
  ending,
});

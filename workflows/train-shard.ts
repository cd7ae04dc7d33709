import { continueAsNew, executeChild, workflowInfo } from '@temporalio/workflow';
import { childOptions } from './child-options.ts';
import type { Closing, Gate } from './gate.ts';
import { growBankWorkflow } from './grow-bank.ts';
import { growBankId, trainStepId } from './names.ts';
import { governedByRun, type Restart } from './run-control.ts';
import { trainStepWorkflow } from './train-step.ts';

export interface TrainShardInput {
  readonly runId: string;
  readonly shard: number;
  /** First training step that this workflow run does; the rest of the state is in the bank store. */
  readonly nextStep: number;
  /** Training steps of the shard in all. */
  readonly steps: number;
  /** M: training steps between two growths of the bank; null: there is no bank to grow. */
  readonly growEverySteps: number | null;
  /** Why the shard begins paused; null: it does not. */
  readonly closing: Closing | null;
}

/** About 600 events at 10 a training step, far below the 4,096 at which the server asks for it. */
const STEPS_PER_HISTORY = 60;

/** The loop over training steps: strictly one after another, because each acts with the adapter of the last. */
export function trainShardWorkflow(input: TrainShardInput): Promise<void> {
  return governedByRun(input.closing, (gate) => train(input, gate));
}

async function train(input: TrainShardInput, gate: Gate): Promise<Restart | null> {
  const until = Math.min(input.steps, input.nextStep + STEPS_PER_HISTORY);
  for (let step = input.nextStep; step < until; step += 1) {
    await gate.through(() => trainOneStep(input, step));
    if (isGrowthDue(input, step)) await gate.through(() => growBank(input, step));
    if (step + 1 < input.steps && workflowInfo().continueAsNewSuggested)
      return restart(input, step + 1, gate);
  }
  return until < input.steps ? restart(input, until, gate) : null;
}

async function trainOneStep({ runId, shard }: TrainShardInput, step: number): Promise<void> {
  await executeChild(trainStepWorkflow, {
    workflowId: trainStepId(runId, shard, step),
    args: [{ runId, shard, step }],
    ...childOptions,
  });
}

async function growBank({ runId, shard }: TrainShardInput, step: number): Promise<void> {
  await executeChild(growBankWorkflow, {
    workflowId: growBankId(runId, shard, step),
    args: [{ runId, shard, step }],
    ...childOptions,
  });
}

function isGrowthDue({ growEverySteps, steps }: TrainShardInput, step: number): boolean {
  // Questions grown after the last training step would never be certified.
  return growEverySteps !== null && (step + 1) % growEverySteps === 0 && step + 1 < steps;
}

function restart(input: TrainShardInput, nextStep: number, gate: Gate): Restart {
  return () => continueAsNew<typeof trainShardWorkflow>({ ...input, nextStep, closing: gate.closing });
}

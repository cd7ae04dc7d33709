import { startChild } from '@temporalio/workflow';
import type { TrainingResult } from '../activities/contracts.ts';
import { cpu, gpu } from './activity-proxies.ts';
import { childOptions } from './child-options.ts';
import { allOrNone } from './failures.ts';
import { trainShardId } from './names.ts';
import { type Completion, governingRun, type RunControl } from './run-control.ts';
import { type TrainShardInput, trainShardWorkflow } from './train-shard.ts';

export interface TrainRunInput extends Omit<TrainShardInput, 'shard' | 'nextStep' | 'closing'> {
  /** Single-node jobs that train side by side; 16 in the paper, 1 in the demo. */
  readonly shards: number;
}

/** One training run: its shards side by side, then adapters averaged, banks merged and frozen (METHOD 5.5, 5.6). */
export function trainRunWorkflow(input: TrainRunInput): Promise<TrainingResult> {
  return governingRun(input.runId, 'training', (control) => train(input, control));
}

async function train(
  { shards, ...common }: TrainRunInput,
  control: RunControl,
): Promise<Completion<TrainingResult>> {
  const { runId } = common;
  const { gate } = control;
  await gate.through(() => gpu.initialiseAdapter({ runId }));
  await allOrNone(
    Array.from(
      { length: shards },
      (_, shard) => () =>
        control.member(() =>
          startChild(trainShardWorkflow, {
            workflowId: trainShardId(runId, shard),
            args: [{ ...common, shard, nextStep: 0, closing: null }],
            ...childOptions,
          }),
        ),
    ),
  );
  const result = await gate.through(() => cpu.finishTraining({ runId }));
  return { result, reason: describeEnd(result) };
}

function describeEnd({ averagingError }: TrainingResult): string {
  const end = 'all training steps committed, bank frozen';
  if (averagingError === null || averagingError === 0) return end;
  return `${end}; averaging the shards' factors is ${(100 * averagingError).toFixed(1)} % away from averaging their products`;
}

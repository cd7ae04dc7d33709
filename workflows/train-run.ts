import { executeChild, ParentClosePolicy } from '@temporalio/workflow';
import type { TrainingResult } from '../activities/contracts.ts';
import { cpu, gpu } from './activity-proxies.ts';
import { allOrNone, notingFailure } from './failures.ts';
import { trainShardId } from './names.ts';
import { type TrainShardInput, trainShardWorkflow } from './train-shard.ts';

export interface TrainRunInput extends Omit<TrainShardInput, 'shard' | 'nextStep'> {
  /** Single-node jobs that train side by side; 16 in the paper, 1 in the demo. */
  readonly shards: number;
}

/** One training run: its shards side by side, then adapters averaged, banks merged and frozen (METHOD 5.5, 5.6). */
export function trainRunWorkflow(input: TrainRunInput): Promise<TrainingResult> {
  return notingFailure(input.runId, () => train(input));
}

async function train({ shards, ...common }: TrainRunInput): Promise<TrainingResult> {
  const { runId } = common;
  await cpu.setRunState({ runId, state: 'running', reason: 'training' });
  await gpu.initialiseAdapter({ runId });
  await allOrNone(
    Array.from(
      { length: shards },
      (_, shard) => () =>
        executeChild(trainShardWorkflow, {
          workflowId: trainShardId(runId, shard),
          args: [{ ...common, shard, nextStep: 0 }],
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        }),
    ),
  );
  const result = await cpu.finishTraining({ runId });
  await cpu.setRunState({ runId, state: 'completed', reason: describeEnd(result) });
  return result;
}

function describeEnd({ averagingError }: TrainingResult): string {
  const end = 'all training steps committed, bank frozen';
  if (averagingError === null || averagingError === 0) return end;
  return `${end}; averaging the shards' factors is ${(100 * averagingError).toFixed(1)} % away from averaging their products`;
}

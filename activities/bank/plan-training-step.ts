import type { BankStore, NewRollout } from '../../bank-store/contract.ts';
import { trainingTask } from '../../workflows/method/task-order.ts';
import { rolloutId, trainStepId } from '../../workflows/names.ts';
import type { TrainingStepPlan, TrainingStepRef } from '../contracts.ts';
import { trainConfigSchema } from '../run-config.ts';
import { summaryOf } from './commit-training-step.ts';

/** Opens the group of a training step: its task, its rollouts and the adapter that acts. A repeat opens nothing new. */
export async function planTrainingStep(store: BankStore, at: TrainingStepRef): Promise<TrainingStepPlan> {
  const run = await store.getRun(at.runId);
  const { hyperparameters, shards } = trainConfigSchema.parse(run.config);
  const taskId = trainingTask(await store.taskList(at.runId), { ...at, seed: run.seed, shards });
  const task = await store.getTask(taskId);
  const acting = await store.latestAdapter({ ...at, step: at.step - 1 });
  const groupId = trainStepId(at.runId, at.shard, at.step);
  const adapterDigest = acting?.digest ?? null;
  const rollouts = Array.from(
    { length: hyperparameters.groupSize },
    (_, index): NewRollout => ({
      id: rolloutId(groupId, index),
      runId: at.runId,
      ownerId: groupId,
      index,
      taskId,
      temperature: 1,
      adapterDigest,
      maxSteps: task.maxSteps,
      seed: [run.seed, at.shard, at.step, taskId, index],
    }),
  );
  await store.openGroup({ ...at, id: groupId, taskId, adapterDigest }, rollouts);
  const committed = await store.trainingStep(at);
  return {
    groupId,
    taskId,
    rollouts: rollouts.length,
    quorum: hyperparameters.quorum,
    useBank: hyperparameters.useBank,
    committed: committed === null ? null : summaryOf(committed),
  };
}

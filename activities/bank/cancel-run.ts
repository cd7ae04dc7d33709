import type { Run, StepKey } from '../../bank-store/contract.ts';
import { evaluateTaskId, trainStepId } from '../../workflows/names.ts';
import { trainConfigSchema } from '../run-config.ts';
import { failUnfinished } from './close-rollout.ts';
import { commitTrainingStep } from './commit-training-step.ts';
import type { CpuDependencies } from './dependencies.ts';

type Dependencies = Pick<CpuDependencies, 'store' | 'codeVersion'>;

const CAUSE = 'the run was cancelled';

/**
 * The end of a run that somebody cancelled. Its activities have ended, but for those of dead or suspended workers:
 * what they still write is refused, or stands if it came first. What is finished stays; rollouts under way become
 * unscored, a training step under way is committed as `aborted`. A repeat changes nothing.
 */
export async function cancelRun(
  dependencies: Dependencies,
  { runId }: { readonly runId: string },
): Promise<void> {
  const { store } = dependencies;
  const run = await store.getRun(runId);
  const aborted =
    run.kind === 'train' ? await abortSteps(dependencies, run) : await abortTasks(dependencies, run);
  const detail = aborted.length === 0 ? 'nothing was under way' : `aborted: ${aborted.join(', ')}`;
  await store.setRunState(runId, 'cancelled', `cancelled on request; ${detail}`.slice(0, 500));
}

/** The step after the last committed one of each shard, if it was begun. */
async function abortSteps(dependencies: Dependencies, run: Run): Promise<readonly string[]> {
  const { store } = dependencies;
  const { shards } = trainConfigSchema.parse(run.config);
  const committed = await store.trainingSteps(run.id);
  const aborted: string[] = [];
  for (let shard = 0; shard < shards; shard += 1) {
    const own = committed.filter((row) => row.shard === shard);
    const step = own.length;
    if (own.at(-1)?.outcome === 'aborted') aborted.push(`step ${step - 1} of shard ${shard}`);
    else if (await abortStep(dependencies, { runId: run.id, shard, step })) {
      aborted.push(`step ${step} of shard ${shard}`);
    }
  }
  return aborted;
}

/** False when it was not begun, or when its own commit, still on its way, came first: that one stands. */
async function abortStep(dependencies: Dependencies, at: StepKey): Promise<boolean> {
  if (!(await closeAll(dependencies, trainStepId(at.runId, at.shard, at.step)))) return false;
  try {
    await commitTrainingStep(dependencies, { ...at, outcome: 'aborted' });
    return true;
  } catch (error) {
    if ((await dependencies.store.trainingStep(at)) === null) throw error;
    return false;
  }
}

/** Tasks without a selection stay in the denominator, as tasks that were not finished (invariant 10). */
async function abortTasks(dependencies: Dependencies, { id }: Run): Promise<readonly string[]> {
  const { store } = dependencies;
  const decided = new Set((await store.selections(id)).map(({ taskId }) => taskId));
  const aborted: string[] = [];
  for (const taskId of await store.taskList(id)) {
    if (!decided.has(taskId) && (await closeAll(dependencies, evaluateTaskId(id, taskId))))
      aborted.push(taskId);
  }
  return aborted;
}

/** False when the group or task was not begun. */
async function closeAll({ store }: Dependencies, ownerId: string): Promise<boolean> {
  const rollouts = await store.rolloutsOf(ownerId);
  for (const { rollout } of rollouts) await failUnfinished(store, rollout.id, CAUSE);
  return rollouts.length > 0;
}

import type { BankStore, NewRollout, Selection } from '../../bank-store/contract.ts';
import { evaluateTaskId, rolloutId } from '../../workflows/names.ts';
import type { CpuActivities, EvaluationTaskResult, Outcome } from '../contracts.ts';
import { fault } from '../failures.ts';
import { evaluateConfigSchema } from '../run-config.ts';
import type { CpuDependencies } from './dependencies.ts';

type Input<Name extends keyof CpuActivities> = Parameters<CpuActivities[Name]>[0];
type Result<Name extends keyof CpuActivities> = Awaited<ReturnType<CpuActivities[Name]>>;

export async function listEvaluationTasks(
  store: BankStore,
  { runId, from, to }: Input<'listEvaluationTasks'>,
): Promise<readonly string[]> {
  return (await store.taskList(runId)).slice(from, to);
}

/** Opens the K rollouts of one task: the greedy one first, then the retries (METHOD 6). */
export async function planEvaluationTask(
  store: BankStore,
  { runId, taskId }: Input<'planEvaluationTask'>,
): Promise<Result<'planEvaluationTask'>> {
  const [run, task] = await Promise.all([store.getRun(runId), store.getTask(taskId)]);
  const { hyperparameters, adapterDigest, bankDigest } = evaluateConfigSchema.parse(run.config);
  const ownerId = evaluateTaskId(runId, taskId);
  const rollouts = Array.from(
    { length: hyperparameters.rolloutBudget },
    (_, index): NewRollout => ({
      id: rolloutId(ownerId, index),
      ...{ runId, ownerId, index, taskId, adapterDigest },
      temperature: index === 0 ? 0 : hyperparameters.retryTemperature,
      maxSteps: task.maxSteps,
      seed: [run.seed, 'evaluate', taskId, index],
    }),
  );
  await store.openRollouts(rollouts);
  const selection = await store.selectionOf(runId, taskId);
  return {
    rollouts: rollouts.length,
    select: bankDigest !== null && rollouts.length > 1,
    done: selection === null ? null : await resultOf(store, selection),
  };
}

/** The first decision stands: a repeat, also by later code, returns it. */
export async function recordSelection(
  { store, codeVersion }: Pick<CpuDependencies, 'store' | 'codeVersion'>,
  { runId, taskId, selected, comparisons }: Input<'recordSelection'>,
): Promise<EvaluationTaskResult> {
  const decided = await store.selectionOf(runId, taskId);
  if (decided !== null) return resultOf(store, decided);
  const run = await store.getRun(runId);
  const { bankDigest } = evaluateConfigSchema.parse(run.config);
  const idOf = (index: number) => rolloutId(evaluateTaskId(runId, taskId), index);
  const selection: Selection = {
    ...{ runId, taskId, bankDigest, codeVersion },
    selected: selected === null ? null : idOf(selected),
    comparisons: comparisons.map(({ incumbent, challenger, votes, swap }) => ({
      ...{ incumbent: idOf(incumbent), challenger: idOf(challenger), swap },
      votes: votes.map((label, vote) => ({ vote, label })),
    })),
  };
  await store.saveSelection(selection);
  return resultOf(store, selection);
}

/** The greedy and the emitted outcome; a task without a candidate is unscored, and stays in the denominator. */
export async function resultOf(store: BankStore, selection: Selection): Promise<EvaluationTaskResult> {
  const { runId, taskId, selected, comparisons } = selection;
  const rollouts = await store.rolloutsOf(evaluateTaskId(runId, taskId));
  const outcomeOf = (id: string | undefined): Outcome => {
    const outcome = rollouts.find(({ rollout }) => rollout.id === id)?.finished?.outcome;
    if (outcome !== undefined) return outcome;
    throw fault('NotFound', `rollout ${id} of task ${taskId} has no outcome`, 'Evaluate the task again');
  };
  const greedy = outcomeOf(rollouts[0]?.rollout.id);
  const nothing: Outcome = greedy.kind === 'unscored' ? greedy : { kind: 'unscored', cause: 'infra' };
  return {
    taskId,
    selected,
    greedy,
    emitted: selected === null ? nothing : outcomeOf(selected),
    swaps: comparisons.filter(({ swap }) => swap).length,
  };
}

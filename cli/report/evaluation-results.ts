/** What an evaluation run left of each of its tasks: the pinned list, never a smaller denominator (invariant 10). */
import type { Outcome, StopReason } from '../../activities/contracts.ts';
import type { BankStore, Comparison, Selection, StoredRollout } from '../../bank-store/contract.ts';
import type { Caveat, Difficulty } from '../../benchmarks/contract.ts';
import { evaluateTaskId } from '../../workflows/names.ts';

/** `not_finished` names what a run that is still going, or was given up, has not brought. */
export type ReportedOutcome = Outcome | { readonly kind: 'unscored'; readonly cause: 'not_finished' };

export const notFinished: ReportedOutcome = { kind: 'unscored', cause: 'not_finished' };

export interface RolloutResult {
  readonly rolloutId: string;
  readonly index: number;
  readonly outcome: ReportedOutcome;
  readonly stopReason: StopReason | null;
  readonly steps: number;
}

export interface TaskResult {
  readonly taskId: string;
  readonly app: string;
  readonly difficulty: Difficulty;
  /** Empty for a sound task. */
  readonly caveats: readonly Caveat[];
  /** In generation order: the greedy one first. */
  readonly rollouts: readonly RolloutResult[];
  /** Null while the task has no result; its greedy rollout may have one already. */
  readonly selection: {
    readonly selected: string | null;
    readonly comparisons: readonly Comparison[];
  } | null;
}

/** In the order of the run's task list. */
export async function readTaskResults(store: BankStore, runId: string): Promise<readonly TaskResult[]> {
  const [taskIds, selections] = await Promise.all([store.taskList(runId), store.selections(runId)]);
  const selectionOf = new Map(selections.map((selection) => [selection.taskId, selection]));
  // In turn: thousands of tasks at once would wait for the store's connections until they give up.
  return Array.fromAsync(taskIds, (taskId) =>
    readTaskResult(store, runId, taskId, selectionOf.get(taskId) ?? null),
  );
}

export async function readTaskResult(
  store: BankStore,
  runId: string,
  taskId: string,
  selection: Selection | null,
): Promise<TaskResult> {
  const [{ app, difficulty, caveats = [] }, rollouts] = await Promise.all([
    store.getTask(taskId),
    store.rolloutsOf(evaluateTaskId(runId, taskId)),
  ]);
  return {
    ...{ taskId, app, difficulty, caveats },
    rollouts: rollouts.map(rolloutResult),
    selection: selection && { selected: selection.selected, comparisons: selection.comparisons },
  };
}

export function rolloutResult({ rollout, finished }: StoredRollout): RolloutResult {
  return {
    rolloutId: rollout.id,
    index: rollout.index,
    outcome: finished?.outcome ?? notFinished,
    stopReason: finished?.stopReason ?? null,
    steps: finished?.steps ?? 0,
  };
}

/** The greedy rollout of a task; null before it was planned. */
export const greedyOf = ({ rollouts }: TaskResult): RolloutResult | null => rollouts[0] ?? null;

/** What the task emitted; the greedy rollout where no candidate was left, null before anything was selected. */
export function emittedOf(result: TaskResult): RolloutResult | null {
  if (result.selection === null) return null;
  const { selected } = result.selection;
  if (selected === null) return greedyOf(result);
  return result.rollouts.find(({ rolloutId }) => rolloutId === selected) ?? null;
}

/** True where votes put another rollout in the greedy one's place. */
export function isSwapped({ selection }: TaskResult): boolean {
  return selection?.comparisons.some(({ swap }) => swap) ?? false;
}

/** One task of an evaluation: its rollouts, the votes between them, what the bank said of the greedy and the emitted. */
import type { BankStore, Comparison, Run } from '../../bank-store/contract.ts';
import { emittedOf, greedyOf, type RolloutResult, readTaskResult } from './evaluation-results.ts';
import { compareSheets, type EvidenceRow, readShownRollout, type ShownRollout } from './swap-example.ts';

export interface TaskReport {
  readonly runId: string;
  readonly taskId: string;
  readonly instruction: string;
  /** In generation order. */
  readonly rollouts: readonly (RolloutResult & ShownRollout)[];
  /** Null before anything was selected, or where no candidate was left. */
  readonly selected: string | null;
  readonly comparisons: readonly Comparison[];
  /** Of the emitted rollout against the greedy one; empty where they are the same. */
  readonly evidence: readonly EvidenceRow[];
}

/** Throws for a task that is not on the run's list. */
export async function readTaskReport(store: BankStore, run: Run, taskId: string): Promise<TaskReport> {
  if (!(await store.taskList(run.id)).includes(taskId)) {
    throw new Error(`run ${run.id} has no task ${taskId}; \`clift show ${run.id}\` lists its tasks`);
  }
  const [task, selection] = await Promise.all([store.getTask(taskId), store.selectionOf(run.id, taskId)]);
  const result = await readTaskResult(store, run.id, taskId, selection);
  const read = await Promise.all(
    result.rollouts.map(async (rollout) => {
      const { shown, lines } = await readShownRollout(store, run, rollout.rolloutId);
      return { shown: { ...rollout, ...shown }, lines };
    }),
  );
  const linesOf = (rollout: RolloutResult | null) =>
    read.find(({ shown }) => shown.rolloutId === rollout?.rolloutId)?.lines ?? [];
  const [greedy, emitted] = [greedyOf(result), emittedOf(result)];
  return {
    ...{ runId: run.id, taskId, instruction: task.instruction },
    rollouts: read.map(({ shown }) => shown),
    selected: selection?.selected ?? null,
    comparisons: selection?.comparisons ?? [],
    evidence: greedy === emitted ? [] : compareSheets(linesOf(greedy), linesOf(emitted)),
  };
}

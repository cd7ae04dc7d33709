import type {
  ComparisonRef,
  ComparisonResult,
  EvaluationTaskResult,
  RolloutSummary,
} from '../activities/contracts.ts';
import { browser, cpu, llm } from './activity-proxies.ts';
import { orNull } from './failures.ts';

export interface EvaluateTaskInput {
  readonly runId: string;
  readonly taskId: string;
}

/** One evaluation task: K rollouts, answers of the frozen bank, the tournament chain, one emitted trajectory. */
export async function evaluateTaskWorkflow(input: EvaluateTaskInput): Promise<EvaluationTaskResult> {
  const { runId, taskId } = input;
  const plan = await cpu.planEvaluationTask(input);
  if (plan.done !== null) return plan.done;
  const rollouts = await Promise.all(
    plan.rolloutIds.map((rolloutId) => orNull(() => browser.rollOut({ runId, rolloutId }))),
  );
  const candidates = rollouts.filter((rollout) => rollout !== null && isCandidate(rollout));
  const ids = candidates.flatMap((candidate) => (candidate === null ? [] : [candidate.rolloutId]));
  const comparisons = plan.select && ids.length > 1 ? await select(input, ids) : [];
  return cpu.recordSelection({ runId, taskId, selected: winner(ids, comparisons), comparisons });
}

/** A blocked rollout stays a candidate: bot-block questions exist to vote against it (DESIGN 2.2). */
function isCandidate({ outcome }: RolloutSummary): boolean {
  return outcome.kind !== 'unscored' || (outcome.cause !== 'infra' && outcome.cause !== 'invalid');
}

type Comparison = ComparisonRef & ComparisonResult;

/** The chain of METHOD 6: each challenger in generation order meets the incumbent of the moment. */
async function select(
  input: EvaluateTaskInput,
  candidates: readonly string[],
): Promise<readonly Comparison[]> {
  const answered = await Promise.all(
    candidates.map((rolloutId) => orNull(() => llm.answerQuestions({ runId: input.runId, rolloutId }))),
  );
  const comparisons: Comparison[] = [];
  for (const challenger of candidates.slice(1)) {
    const incumbent = winner(candidates, comparisons) ?? challenger;
    const ref = { ...input, incumbent, challenger };
    const isSeen = [incumbent, challenger].every((id) => answered[candidates.indexOf(id)] !== null);
    // Votes that cannot be had are missing votes, and missing votes keep.
    const result = isSeen ? await orNull(() => llm.castVotes(ref)) : null;
    comparisons.push({ ...ref, ...(result ?? { swap: false, votes: [] }) });
  }
  return comparisons;
}

function winner(candidates: readonly string[], comparisons: readonly Comparison[]): string | null {
  return comparisons.findLast(({ swap }) => swap)?.challenger ?? candidates[0] ?? null;
}

import type { ChainLink, EvaluationTaskResult, RolloutSummary } from '../activities/contracts.ts';
import { cpu, llm } from './activity-proxies.ts';
import { allOrNone, orNull } from './failures.ts';
import { evaluateTaskId, rolloutId } from './names.ts';
import { rollOutAll } from './roll-out.ts';

export interface EvaluateTaskInput {
  readonly runId: string;
  readonly taskId: string;
}

/** One evaluation task: K rollouts, answers of the frozen bank, the tournament chain, one emitted trajectory. */
export async function evaluateTaskWorkflow(input: EvaluateTaskInput): Promise<EvaluationTaskResult> {
  const { runId, taskId } = input;
  const plan = await cpu.planEvaluationTask(input);
  if (plan.done !== null) return plan.done;
  const rollouts = await rollOutAll(runId, evaluateTaskId(runId, taskId), plan.rollouts);
  const candidates = rollouts.flatMap((rollout, index) => (isCandidate(rollout) ? [index] : []));
  const comparisons = plan.select && candidates.length > 1 ? await select(input, candidates) : [];
  return cpu.recordSelection({ runId, taskId, selected: winner(candidates, comparisons), comparisons });
}

/** A blocked rollout stays a candidate: bot-block questions exist to vote against it (DESIGN 2.2). */
function isCandidate({ outcome }: RolloutSummary): boolean {
  return outcome.kind !== 'unscored' || (outcome.cause !== 'infra' && outcome.cause !== 'invalid');
}

/** The chain of METHOD 6: each challenger in generation order meets the incumbent of the moment. */
async function select(
  { runId, taskId }: EvaluateTaskInput,
  candidates: readonly number[],
): Promise<readonly ChainLink[]> {
  const idOf = (index: number) => rolloutId(evaluateTaskId(runId, taskId), index);
  const answered = await allOrNone(
    candidates.map((index) => () => orNull(() => llm.answerQuestions({ runId, rolloutId: idOf(index) }))),
  );
  const isSeen = (index: number) => answered[candidates.indexOf(index)] !== null;
  const comparisons: ChainLink[] = [];
  for (const challenger of candidates.slice(1)) {
    const incumbent = winner(candidates, comparisons) ?? challenger;
    const ref = { runId, taskId, incumbent: idOf(incumbent), challenger: idOf(challenger) };
    // Votes that cannot be had are missing votes, and missing votes keep.
    const result = isSeen(incumbent) && isSeen(challenger) ? await orNull(() => llm.castVotes(ref)) : null;
    comparisons.push({ incumbent, challenger, ...(result ?? { swap: false, votes: [] }) });
  }
  return comparisons;
}

function winner(candidates: readonly number[], comparisons: readonly ChainLink[]): number | null {
  return comparisons.findLast(({ swap }) => swap)?.challenger ?? candidates[0] ?? null;
}

import { z } from 'zod';
import type { StoredJudgement, StoredRollout } from '../../bank-store/contract.ts';
import type { JudgeRequest } from '../../models/contract.ts';
import { randomGenerator } from '../../workflows/method/random.ts';
import type { JudgeActivities } from '../contracts.ts';
import { readGroup, type ScoredGroup } from '../group.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { traceOf } from '../trajectory.ts';
import type { JudgeDependencies } from './dependencies.ts';

type Input = Parameters<JudgeActivities['judgeGroup']>[0];
type Result = Awaited<ReturnType<JudgeActivities['judgeGroup']>>;

/** One comparative call for the whole group; a reply that does not fit the group is no judgement, never a number. */
export function judgeGroup({ store, judge }: JudgeDependencies, { runId, groupId }: Input): Promise<Result> {
  return withHeartbeat(async (signal) => {
    const [run, scored] = await Promise.all([store.getRun(runId), readGroup(store, groupId)]);
    const shown = presentationOrder(scored, run.seed);
    const request: JudgeRequest = { task: scored.task, traces: shown.map(judgedTrace) };
    const reply = await store.callOnce(
      { runId, purpose: 'judge', owner: groupId, ordinal: 0 },
      { model: judge.identity, ...request },
      async () => {
        const { judged, cost } = await judge.judge(request, signal);
        return { reply: judged, cost, model: judge.identity.model };
      },
    );
    const parsed = replySchema(shown).safeParse(reply);
    if (!parsed.success) return { ok: false, reason: z.prettifyError(parsed.error).slice(0, 500) };
    const judgements = mapBack(parsed.data, shown);
    await store.saveJudgements(groupId, judgements);
    const total = judgements.reduce((sum, { score }) => sum + score, 0);
    return { ok: true, judged: judgements.length, meanScore: total / judgements.length };
  });
}

/** Shuffled, so that a judge's taste for a place in the list favours no rollout. */
function presentationOrder({ group, rollouts }: ScoredGroup, seed: number): readonly StoredRollout[] {
  return randomGenerator([seed, group.shard, group.step, 'judge order']).shuffle(rollouts);
}

function judgedTrace(rollout: StoredRollout): JudgeRequest['traces'][number] {
  return { steps: traceOf(rollout), answer: rollout.finished?.answer ?? null };
}

const score = z.number().min(0).max(1);

/** One judgement per trace shown, one step score per step of it. */
const replySchema = (shown: readonly StoredRollout[]) =>
  z
    .array(z.object({ score, stepScores: z.array(score), rationale: z.string() }))
    .length(shown.length)
    .superRefine((judged, context) => {
      for (const [index, { stepScores }] of judged.entries()) {
        const steps = shown[index]?.steps.length ?? 0;
        if (stepScores.length === steps) continue;
        context.addIssue({
          code: 'custom',
          path: [index, 'stepScores'],
          message: `${stepScores.length} step scores for ${steps} steps`,
        });
      }
    });

/** Back into generation order. */
function mapBack(
  judged: readonly Omit<StoredJudgement, 'rolloutId'>[],
  shown: readonly StoredRollout[],
): readonly StoredJudgement[] {
  const byRollout = shown.flatMap(({ rollout }, index) => {
    const judgement = judged[index];
    return judgement === undefined ? [] : [{ index: rollout.index, rolloutId: rollout.id, judgement }];
  });
  return byRollout
    .sort((left, right) => left.index - right.index)
    .map(({ rolloutId, judgement }) => ({ rolloutId, ...judgement }));
}

import { z } from 'zod';
import type { Run, StoredJudgement, StoredRollout } from '../../bank-store/contract.ts';
import { observationSchema } from '../../benchmarks/schemas.ts';
import type { InvalidReply, JudgedTrace, JudgeReply, JudgeRequest } from '../../models/contract.ts';
import { randomGenerator } from '../../workflows/method/random.ts';
import type { JudgeActivities } from '../contracts.ts';
import { readGroup, type ScoredGroup } from '../group.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { mostUsdOf, paidCall } from '../paid-call.ts';
import { trainConfigSchema } from '../run-config.ts';
import { traceOf } from '../trajectory.ts';
import type { JudgeDependencies } from './dependencies.ts';

type Input = Parameters<JudgeActivities['judgeGroup']>[0];
type Result = Awaited<ReturnType<JudgeActivities['judgeGroup']>>;

/** UTF-16 units, of which JSON may make six bytes each: the whole stays under 2 KB (invariant 6). */
const LONGEST_REASON = 300;

/** One comparative call for the whole group; a reply that does not fit the group is no judgement, never a number. */
export function judgeGroup(dependencies: JudgeDependencies, { runId, groupId }: Input): Promise<Result> {
  return withHeartbeat(async (signal) => {
    const { store } = dependencies;
    const [run, scored] = await Promise.all([store.getRun(runId), readGroup(store, groupId)]);
    const shown = presentationOrder(scored, run.seed);
    const reply = await askJudge(dependencies, run, scored, shown, signal);
    if (!reply.ok) return { ok: false, reason: reply.problem.slice(0, LONGEST_REASON) };
    const judgements = mapBack(reply.judged, shown);
    await store.saveJudgements(groupId, judgements);
    const total = judgements.reduce((sum, { score }) => sum + score, 0);
    return { ok: true, judged: judgements.length, meanScore: total / judgements.length };
  });
}

/** A reply that is no judgement gets one attempt to repair it, journalled as a call of its own. */
async function askJudge(
  { store, judgeFor }: JudgeDependencies,
  run: Run,
  { group, task }: ScoredGroup,
  shown: readonly StoredRollout[],
  signal: AbortSignal,
): Promise<JudgeReply> {
  const { models, ceilings } = trainConfigSchema.parse(run.config);
  const judge = judgeFor(models.judge);
  const traces = shown.map(judgedTrace);
  const readPage = async (digest: string) => observationSchema.parse(await store.blobs.getJson(digest));
  const ask = async (ordinal: number, repair: InvalidReply | null): Promise<JudgeReply> => {
    const request: JudgeRequest = { task, traces, repair };
    const stored = await paidCall(store, {
      key: { runId: run.id, purpose: 'judge', owner: group.id, ordinal },
      task: [group.id],
      ceilings,
      model: judge.identity,
      request,
      ...{ mostUsd: mostUsdOf(judge, request), signal },
      ask: () => judge.judge(request, readPage, signal),
    });
    return fittingReply(stored, shown);
  };
  const first = await ask(0, null);
  return first.ok ? first : ask(1, first);
}

/** Shuffled, so that a judge's taste for a place in the list favours no rollout. */
function presentationOrder({ group, rollouts }: ScoredGroup, seed: number): readonly StoredRollout[] {
  return randomGenerator([seed, group.shard, group.step, 'judge order']).shuffle(rollouts);
}

function judgedTrace(rollout: StoredRollout): JudgedTrace {
  const { steps, finished } = rollout;
  const last = finished?.finalObservationDigest ?? null;
  return {
    steps: traceOf(rollout),
    answer: finished?.answer ?? null,
    observationDigests: [...steps.map(({ observationDigest }) => observationDigest), last],
  };
}

const score = z.number().min(0).max(1);

const invalidReply = z.object({ ok: z.literal(false), problem: z.string(), text: z.string() });

/** One judgement per trace shown, one step score per step of it. */
const judgementsOf = (shown: readonly StoredRollout[]) =>
  z.object({
    ok: z.literal(true),
    judged: z
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
      }),
  });

/** Whatever judge gave it: a reply that does not fit this group is an invalid one. */
function fittingReply(stored: unknown, shown: readonly StoredRollout[]): JudgeReply {
  const parsed = z.discriminatedUnion('ok', [judgementsOf(shown), invalidReply]).safeParse(stored);
  if (parsed.success) return parsed.data;
  return { ok: false, problem: z.prettifyError(parsed.error), text: JSON.stringify(stored) };
}

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

/** One training step: the group's rollouts beside what the judge and the questions said of them. */
import { z } from 'zod';
import { readBank } from '../../activities/bank-snapshot.ts';
import type {
  BankStore,
  NewGroup,
  StepKey,
  StoredAnswer,
  TrainingStepRow,
} from '../../bank-store/contract.ts';
import { hardAnswer } from '../../workflows/method/group-evidence.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import { mean } from '../../workflows/method/mean.ts';
import { trainStepId } from '../../workflows/names.ts';
import { type RolloutResult, rolloutResult } from './evaluation-results.ts';
import { type TraceLine, traceLines } from './trace-lines.ts';

export interface TrainingStepReport {
  readonly group: NewGroup;
  readonly instruction: string;
  /** Null while the step has not been committed. */
  readonly row: TrainingStepRow | null;
  readonly rollouts: readonly GroupMember[];
  readonly questions: readonly AskedQuestion[];
}

export interface GroupMember extends RolloutResult {
  /** Null for a rollout that the judge did not see. */
  readonly judgeScore: number | null;
  readonly rationale: string | null;
  readonly trace: readonly TraceLine[];
}

/** A question with one summary of its answers for each rollout of the group. */
export interface AskedQuestion {
  readonly questionId: string;
  readonly text: string;
  readonly certified: boolean;
  readonly answers: readonly AnswerSummary[];
}

/** Over the URL states at which it was asked; `mixed`: yes in some and no in others. */
export type AnswerSummary = 'yes' | 'no' | 'mixed' | 'invalid' | 'not asked';

export async function readTrainingStep(store: BankStore, at: StepKey): Promise<TrainingStepReport> {
  const group = await store.getGroup(trainStepId(at.runId, at.shard, at.step));
  const [task, rollouts, judgements, row] = await Promise.all([
    store.getTask(group.taskId),
    store.rolloutsOf(group.id),
    store.judgementsOf(group.id),
    store.trainingStep(at),
  ]);
  const advantages = await readAdvantages(store, row?.batchDigest ?? null);
  const judgementOf = new Map(judgements.map((judgement) => [judgement.rolloutId, judgement]));
  return {
    ...{ group, row, instruction: task.instruction },
    rollouts: rollouts.map((stored) => {
      const { id } = stored.rollout;
      const judgement = judgementOf.get(id) ?? null;
      return {
        ...rolloutResult(stored),
        judgeScore: judgement?.score ?? null,
        rationale: judgement?.rationale ?? null,
        trace: traceLines(stored, judgement, advantages.get(id) ?? []),
      };
    }),
    questions: await readAskedQuestions(
      store,
      at,
      rollouts.map(({ rollout }) => rollout.id),
    ),
  };
}

const batchSchema = z.object({
  steps: z.array(z.object({ rolloutId: z.string(), index: z.int(), advantage: z.number() })),
});

/** By rollout, then browser step; empty without a batch. */
export async function readAdvantages(
  store: BankStore,
  batchDigest: string | null,
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (batchDigest === null) return new Map();
  const { steps } = batchSchema.parse(await store.blobs.getJson(batchDigest));
  return new Map(
    [...Map.groupBy(steps, ({ rolloutId }) => rolloutId)].map(([rolloutId, own]) => [
      rolloutId,
      own.toSorted((left, right) => left.index - right.index).map(({ advantage }) => advantage),
    ]),
  );
}

/** In the bank's order, from the snapshot that the step used; certified ones are those it was rewarded by. */
async function readAskedQuestions(
  store: BankStore,
  at: StepKey,
  rolloutIds: readonly string[],
): Promise<readonly AskedQuestion[]> {
  const [bank, answers] = await Promise.all([
    readBank(store, { ...at, step: at.step - 1 }),
    store.answersOf(rolloutIds),
  ]);
  const answersOf = Map.groupBy(answers, ({ questionId, version }) => questionKey(questionId, version));
  const certified = new Set(
    bank.certificates
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ qid, version }) => questionKey(qid, version)),
  );
  return bank.questions.flatMap(({ id, version, text }) => {
    const key = questionKey(id, version);
    const own = answersOf.get(key);
    if (own === undefined) return [];
    const byRollout = Map.groupBy(own, ({ rolloutId }) => rolloutId);
    return [
      {
        ...{ questionId: id, text, certified: certified.has(key) },
        answers: rolloutIds.map((rolloutId) => summariseAnswers(byRollout.get(rolloutId) ?? [])),
      },
    ];
  });
}

export function summariseAnswers(answers: readonly Pick<StoredAnswer, 'pYes'>[]): AnswerSummary {
  if (answers.length === 0) return 'not asked';
  const yesShare = mean(answers.flatMap(({ pYes }) => (pYes === null ? [] : [hardAnswer(pYes)])));
  if (yesShare === null) return 'invalid';
  if (yesShare === 0 || yesShare === 1) return yesShare === 1 ? 'yes' : 'no';
  return 'mixed';
}

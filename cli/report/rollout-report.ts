/** One rollout as it was recorded: what it did, how it ended, what was said of it. */

import type {
  AttemptRecord,
  BankStore,
  Grade,
  Run,
  StoredAnswer,
  StoredRollout,
} from '../../bank-store/contract.ts';
import type { RequestLog } from '../../benchmarks/contract.ts';
import { requestLogSchema } from '../../benchmarks/schemas.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import type { Question } from '../../workflows/method/types.ts';
import { storedConfig } from '../stored-config.ts';
import { type RolloutResult, rolloutResult } from './evaluation-results.ts';
import { type TraceLine, traceLines } from './trace-lines.ts';
import { readAdvantages } from './training-step-report.ts';

export interface RolloutReport extends RolloutResult {
  readonly runId: string;
  readonly taskId: string;
  readonly instruction: string;
  readonly temperature: number;
  readonly seed: StoredRollout['rollout']['seed'];
  readonly adapterDigest: string | null;
  readonly trajectoryDigest: string | null;
  readonly finalUrl: string | null;
  readonly answer: string | null;
  readonly verdict: string | null;
  readonly flags: readonly { readonly rule: string; readonly detail: string }[];
  readonly trace: readonly TraceLine[];
  readonly rationale: string | null;
  readonly answers: readonly ShownAnswer[];
  readonly attempts: readonly AttemptRecord[];
  /** What the browser of the latest attempt with a log asked for; null where there is none. */
  readonly requestLog: RequestLog | null;
  readonly grades: readonly Grade[];
}

export interface ShownAnswer {
  readonly pathKey: string;
  readonly questionId: string;
  readonly text: string;
  readonly pYes: number | null;
  readonly source: StoredAnswer['source'];
}

export async function readRolloutReport(store: BankStore, stored: StoredRollout): Promise<RolloutReport> {
  const { rollout, finished } = stored;
  const [run, task, attempts, grades, answers] = await Promise.all([
    store.getRun(rollout.runId),
    store.getTask(rollout.taskId),
    store.attemptsOf(rollout.id),
    store.gradesOf(rollout.id),
    store.answersOf([rollout.id]),
  ]);
  const logged = attempts.findLast(({ requestLogDigest }) => requestLogDigest !== null);
  const training = run.kind === 'train' ? await readTraining(store, rollout.ownerId, rollout.id) : null;
  const questions = await questionsAsked(store, run, rollout.ownerId);
  const { runId, taskId, temperature, seed, adapterDigest } = rollout;
  return {
    ...rolloutResult(stored),
    ...{ runId, taskId, temperature, seed, adapterDigest, attempts, grades },
    instruction: task.instruction,
    trajectoryDigest: finished?.trajectoryDigest ?? null,
    finalUrl: finished?.finalUrl ?? null,
    answer: finished?.answer ?? null,
    verdict: finished?.verdictMessage ?? null,
    flags: finished?.flags ?? [],
    trace: traceLines(stored, training?.judgement ?? null, training?.advantages ?? []),
    rationale: training?.judgement?.rationale ?? null,
    answers: shownAnswers(answers, questions),
    requestLog: logged?.requestLogDigest
      ? requestLogSchema.parse(await store.blobs.getJson(logged.requestLogDigest))
      : null,
  };
}

async function readTraining(store: BankStore, groupId: string, rolloutId: string) {
  const [group, judgements] = await Promise.all([store.getGroup(groupId), store.judgementsOf(groupId)]);
  const row = await store.trainingStep(group);
  const advantages = await readAdvantages(store, row?.batchDigest ?? null);
  return {
    judgement: judgements.find((judgement) => judgement.rolloutId === rolloutId) ?? null,
    advantages: advantages.get(rolloutId) ?? [],
  };
}

/** The questions that a rollout of this owner could be asked. */
async function questionsAsked(store: BankStore, run: Run, ownerId: string): Promise<readonly Question[]> {
  const config = storedConfig(run);
  if (config.kind === 'train') {
    const { runId, shard, step } = await store.getGroup(ownerId);
    return (await store.snapshotAt({ runId, shard, step: step - 1 })).questions;
  }
  return config.bankDigest === null ? [] : (await store.loadBank(config.bankDigest)).questions;
}

function shownAnswers(
  answers: readonly StoredAnswer[],
  questions: readonly Question[],
): readonly ShownAnswer[] {
  const texts = new Map(questions.map(({ id, version, text }) => [questionKey(id, version), text]));
  return answers.map(({ pathKey, questionId, version, pYes, source }) => {
    const text = texts.get(questionKey(questionId, version)) ?? questionId;
    return { pathKey, questionId, text, pYes, source };
  });
}

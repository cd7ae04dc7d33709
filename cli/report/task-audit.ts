/** One task's history across all runs (DESIGN 2.5): ids, digests, counts and costs; content only where asked for. */

import { z } from 'zod';
import { traceOf } from '../../activities/trajectory.ts';
import type {
  AttemptRecord,
  BankStore,
  CallRecord,
  Comparison,
  Grade,
  ModelCallKey,
  Run,
  StoredRollout,
  TrainingStepRow,
} from '../../bank-store/contract.ts';
import type { Task } from '../../benchmarks/contract.ts';
import type { VoteLabel } from '../../models/contract.ts';
import { stepText } from '../../models/embedded/trace-text.ts';
import { hardAnswer } from '../../workflows/method/group-evidence.ts';
import { trainingTask } from '../../workflows/method/task-order.ts';
import { evaluateTaskId, trainStepId } from '../../workflows/names.ts';
import { storedConfig } from '../stored-config.ts';
import { type RolloutResult, rolloutResult } from './evaluation-results.ts';

export interface TaskAudit {
  readonly task: Task;
  /** Oldest first; only runs that began something of the task. */
  readonly runs: readonly RunAudit[];
}

export interface RunAudit extends Pick<Run, 'kind' | 'state' | 'createdAt' | 'codeVersions' | 'seed'> {
  readonly runId: string;
  readonly bankDigest: string | null;
  /** The evaluation of the task, or every group that trained on it. */
  readonly owners: readonly OwnerAudit[];
}

export interface OwnerAudit {
  /** Group or evaluation task. */
  readonly ownerId: string;
  /** Null for an evaluation, and for a training step that has not been committed. */
  readonly trainingStep: TrainingStepRow | null;
  readonly rollouts: readonly RolloutAudit[];
  readonly selection: {
    readonly selected: string | null;
    readonly comparisons: readonly Comparison[];
  } | null;
  /** Calls that belong to no single rollout: judge, selector, proposer. */
  readonly calls: readonly CallTotals[];
  /** Why each vote was cast, in its words; null unless content was asked for. */
  readonly voteReasons: readonly VoteReason[] | null;
}

export interface VoteReason {
  readonly incumbent: string;
  readonly challenger: string;
  readonly label: VoteLabel;
  readonly reason: string;
}

export interface RolloutAudit extends RolloutResult {
  readonly adapterDigest: string | null;
  readonly trajectoryDigest: string | null;
  readonly attempts: readonly AttemptRecord[];
  readonly grades: readonly Omit<Grade, 'message'>[];
  readonly judgeScore: number | null;
  readonly answers: { readonly yes: number; readonly no: number; readonly invalid: number };
  readonly calls: readonly CallTotals[];
  /** Null unless content was asked for. */
  readonly content: RolloutContent | null;
}

/** What pages, agents and models wrote. */
export interface RolloutContent {
  readonly trace: readonly string[];
  readonly answer: string | null;
  readonly verdicts: readonly string[];
  readonly rationale: string | null;
}

/** Calls of one purpose; `executions` exceeds `calls` where one was begun again. */
export interface CallTotals {
  readonly purpose: ModelCallKey['purpose'];
  readonly models: readonly string[];
  readonly calls: number;
  readonly executions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null as soon as one price is unknown. */
  readonly costUsd: number | null;
  /** What looked suspicious in what models were shown, or said; each once. */
  readonly flags: readonly string[];
}

export interface AuditOptions {
  readonly content: boolean;
}

export async function readTaskAudit(store: BankStore, task: Task, options: AuditOptions): Promise<TaskAudit> {
  const oldestFirst = (await store.listRuns()).toReversed();
  // In turn, here and below: everything at once would wait for the store's connections until it gives up.
  const runs = await Array.fromAsync(oldestFirst, (run) => readRunAudit(store, run, task.id, options));
  return { task, runs: runs.filter(({ owners }) => owners.length > 0) };
}

async function readRunAudit(
  store: BankStore,
  run: Run,
  taskId: string,
  options: AuditOptions,
): Promise<RunAudit> {
  const config = storedConfig(run);
  const { kind, state, createdAt, codeVersions, seed } = run;
  const ownerIds = await ownersOf(store, run, taskId);
  const owners = await Array.fromAsync(ownerIds, (ownerId) =>
    readOwnerAudit(store, run, taskId, ownerId, options),
  );
  return {
    ...{ runId: run.id, kind, state, createdAt, codeVersions, seed },
    bankDigest: config.kind === 'train' ? run.bankDigest : config.bankDigest,
    owners: owners.filter(({ rollouts }) => rollouts.length > 0),
  };
}

/** Which training steps use a task is a function of the run: steps that have not been committed are found, too. */
async function ownersOf(store: BankStore, run: Run, taskId: string): Promise<readonly string[]> {
  const config = storedConfig(run);
  const pool = await store.taskList(run.id);
  if (!pool.includes(taskId)) return [];
  if (config.kind === 'evaluate') return [evaluateTaskId(run.id, taskId)];
  const { shards, steps } = config;
  return Array.from({ length: shards }, (_, shard) =>
    Array.from({ length: steps }, (_, step) => step)
      .filter((step) => trainingTask(pool, { seed: run.seed, shards, shard, step }) === taskId)
      .map((step) => trainStepId(run.id, shard, step)),
  ).flat();
}

async function readOwnerAudit(
  store: BankStore,
  run: Run,
  taskId: string,
  ownerId: string,
  options: AuditOptions,
): Promise<OwnerAudit> {
  const rollouts = await store.rolloutsOf(ownerId);
  const isGroup = run.kind === 'train' && rollouts.length > 0;
  const selection = run.kind === 'train' ? null : await store.selectionOf(run.id, taskId);
  const comparisons = selection?.comparisons ?? [];
  const ownCalls = await store.callsOf(run.id, ownerId);
  const votes = await Promise.all(
    comparisons.map(async (comparison) => ({
      comparison,
      calls: await store.callsOf(run.id, `${taskId}/${comparison.incumbent}/${comparison.challenger}`),
    })),
  );
  return {
    ownerId,
    trainingStep: isGroup ? await store.trainingStep(await store.getGroup(ownerId)) : null,
    rollouts: await Array.fromAsync(rollouts, (rollout) =>
      readRolloutAudit(store, rollout, isGroup, options),
    ),
    selection: selection && { selected: selection.selected, comparisons },
    calls: totalCalls([...ownCalls, ...votes.flatMap(({ calls }) => calls)]),
    voteReasons: options.content ? await readVoteReasons(store, votes) : null,
  };
}

const voteReply = z.object({ label: z.enum(['A', 'B', 'TIE', 'INVALID']), reason: z.string() });

/** From the journal, in the order of the ballots: rows of selections keep the labels only. */
async function readVoteReasons(
  store: BankStore,
  votes: readonly { readonly comparison: Comparison; readonly calls: readonly CallRecord[] }[],
): Promise<readonly VoteReason[]> {
  const reasons: VoteReason[] = [];
  for (const { comparison, calls } of votes) {
    const { incumbent, challenger } = comparison;
    for (const call of calls) {
      const reply = voteReply.safeParse(await store.replyTo(call));
      if (reply.success) reasons.push({ incumbent, challenger, ...reply.data });
    }
  }
  return reasons;
}

async function readRolloutAudit(
  store: BankStore,
  stored: StoredRollout,
  isJudged: boolean,
  { content }: AuditOptions,
): Promise<RolloutAudit> {
  const { id, runId, ownerId, adapterDigest } = stored.rollout;
  const [attempts, grades, answers, judgements] = await Promise.all([
    store.attemptsOf(id),
    store.gradesOf(id),
    store.answersOf([id]),
    isJudged ? store.judgementsOf(ownerId) : [],
  ]);
  const judgement = judgements.find(({ rolloutId }) => rolloutId === id) ?? null;
  const owners = [id, ...attempts.map(({ attempt }) => `${id}#${attempt}`)];
  const calls = await Array.fromAsync(owners, (owner) => store.callsOf(runId, owner));
  return {
    ...rolloutResult(stored),
    ...{ adapterDigest, attempts },
    trajectoryDigest: stored.finished?.trajectoryDigest ?? null,
    grades: grades.map(({ message: _, ...grade }) => grade),
    judgeScore: judgement?.score ?? null,
    answers: countAnswers(answers),
    calls: totalCalls(calls.flat()),
    content: content
      ? {
          trace: traceOf(stored).map(stepText),
          answer: stored.finished?.answer ?? null,
          verdicts: grades.map(({ message }) => message),
          rationale: judgement?.rationale ?? null,
        }
      : null,
  };
}

function countAnswers(answers: readonly { readonly pYes: number | null }[]): RolloutAudit['answers'] {
  const valid = answers.flatMap(({ pYes }) => (pYes === null ? [] : [hardAnswer(pYes)]));
  const yes = valid.filter((answer) => answer === 1).length;
  return { yes, no: valid.length - yes, invalid: answers.length - valid.length };
}

export function totalCalls(calls: readonly CallRecord[]): readonly CallTotals[] {
  return [...Map.groupBy(calls, ({ key }) => key.purpose)].map(([purpose, own]) => ({
    purpose,
    models: [...new Set(own.flatMap(({ model }) => model ?? []))],
    calls: own.length,
    executions: sum(own.map(({ executions }) => executions)),
    inputTokens: sum(own.map(({ inputTokens }) => inputTokens)),
    outputTokens: sum(own.map(({ outputTokens }) => outputTokens)),
    costUsd: own.reduce<number | null>(
      (total, { costUsd }) => (total === null || costUsd === null ? null : total + costUsd),
      0,
    ),
    flags: [...new Set(own.flatMap(({ report }) => report?.flags ?? []))],
  }));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

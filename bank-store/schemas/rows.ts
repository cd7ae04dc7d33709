/** Rows with camelCase names, as SQL returns them; columns that a record does not have are left out. */
import { z } from 'zod';
import type { Outcome } from '../../activities/contracts.ts';
import type { GuardFlag } from '../../benchmarks/contract.ts';
import { actionResultSchema, actionSchema, actionTargetSchema } from '../../benchmarks/schemas.ts';
import type { TrainerMetrics } from '../../models/contract.ts';
import type { Question } from '../../workflows/method/types.ts';
import type {
  AttemptEnding,
  AttemptRecord,
  CallRecord,
  FinishedRollout,
  Grade,
  NewGroup,
  NewRollout,
  PurposeCosts,
  RolloutCounts,
  Run,
  StepRecord,
  StoredAnswer,
  StoredHistory,
  StoredJudgement,
  StoredVote,
  TrainingStepRow,
} from '../records.ts';
import { questionSchema } from './method.ts';
import { schemaFor } from './schema-for.ts';

export const digest = z.string().regex(/^[0-9a-f]{64}$/);

const timestamp = z.date().transform((date) => date.toISOString());

export const runRow = schemaFor<Run>()(
  z.object({
    id: z.string(),
    kind: z.enum(['train', 'evaluate']),
    seed: z.number(),
    identity: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    config: z.unknown(),
    codeVersion: z.string(),
    state: z.enum(['created', 'running', 'paused', 'completed', 'failed', 'cancelled']),
    stateReason: z.string(),
    createdAt: timestamp,
    bankDigest: digest.nullable(),
    adapterDigest: digest.nullable(),
    codeVersions: z.array(z.string()),
  }),
);

export const groupRow = schemaFor<NewGroup>()(
  z.object({
    id: z.string(),
    runId: z.string(),
    shard: z.int(),
    step: z.int(),
    taskId: z.string(),
    adapterDigest: digest.nullable(),
  }),
);

export const rolloutRow = schemaFor<NewRollout>()(
  z.object({
    id: z.string(),
    runId: z.string(),
    ownerId: z.string(),
    index: z.int(),
    taskId: z.string(),
    temperature: z.number(),
    adapterDigest: digest.nullable(),
    maxSteps: z.int(),
    seed: z.array(z.union([z.string(), z.number()])),
  }),
);

export const outcomeSchema = schemaFor<Outcome>()(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('success') }),
    z.strictObject({ kind: z.literal('failure') }),
    z.strictObject({
      kind: z.literal('unscored'),
      cause: z.enum([
        'infra',
        'blocked',
        'judge_error',
        'grader_error',
        'insufficient_evidence',
        'invalid',
        'not_executable',
      ]),
    }),
  ]),
);

const guardFlagSchema = schemaFor<GuardFlag>()(
  z.strictObject({ rule: z.string(), detail: z.string(), invalidates: z.boolean() }),
);

export const endingSchema = schemaFor<AttemptEnding>()(
  z.object({
    outcome: outcomeSchema,
    stopReason: z.enum(['answered', 'infeasible', 'step_budget', 'time_budget', 'guard', 'died']),
    answer: z.string().nullable(),
    finalUrl: z.string(),
    finalObservationDigest: digest.nullable(),
    evidenceDigest: digest.nullable(),
    verdictMessage: z.string(),
    flags: z.array(guardFlagSchema),
  }),
);

export const finishedRow = schemaFor<FinishedRollout>()(
  endingSchema.extend({
    attempt: z.int(),
    steps: z.int(),
    trajectoryDigest: digest,
  }),
);

export const stepRow = schemaFor<StepRecord>()(
  z.object({
    index: z.int(),
    urlBefore: z.string(),
    urlAfter: z.string(),
    action: actionSchema,
    target: actionTargetSchema.nullable(),
    result: actionResultSchema,
    observationDigest: digest,
    screenshotDigest: digest.nullable(),
    stateDigest: z.string().nullable(),
    promptDigest: digest,
    tokenIds: z.array(z.number()),
    logProbs: z.array(z.number()),
    toolCallSpan: z.tuple([z.int(), z.int()]).nullable(),
    decideMs: z.number(),
    actMs: z.number(),
    settleMs: z.number(),
    observeMs: z.number(),
  }),
);

export const attemptRow = schemaFor<AttemptRecord>()(
  z.object({
    attempt: z.int(),
    worker: z.string(),
    steps: z.int(),
    ending: z.string(),
    requestLogDigest: digest.nullable(),
  }),
);

export const rolloutCountsRow = schemaFor<RolloutCounts>()(
  z.object({
    open: z.int(),
    success: z.int(),
    failure: z.int(),
    unscored: z.int(),
  }),
);

export const gradeRow = schemaFor<Grade>()(
  z.object({
    grader: z.string(),
    ref: z.string(),
    outcome: outcomeSchema,
    message: z.string(),
    edit: z.strictObject({ author: z.string(), reason: z.string() }).nullable(),
  }),
);

const purpose = z.enum(['policy', 'judge', 'self-verifier', 'selector', 'proposer', 'grader']);

export const callRow = schemaFor<CallRecord>()(
  z.object({
    key: z.strictObject({ runId: z.string(), purpose, owner: z.string(), ordinal: z.int() }),
    requestDigest: digest,
    state: z.enum(['running', 'done', 'failed']),
    executions: z.int(),
    replies: z.int(),
    lostReplies: z.int(),
    model: z.string().nullable(),
    replyDigest: digest.nullable(),
    latencyMs: z.number().nullable(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number().nullable(),
    report: z
      .strictObject({
        provider: z.string(),
        model: z.string(),
        parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
        finishReason: z.string(),
        flags: z.array(z.string()),
      })
      .nullable(),
    error: z.string().nullable(),
  }),
);

export const costsRow = schemaFor<PurposeCosts>()(
  z.object({
    purpose,
    calls: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number().nullable(),
    lostReplies: z.number(),
  }),
);

/** Of the row that a call claimed. */
export const claimRow = z.object({ lostReplies: z.int() });

export const judgementRow = schemaFor<StoredJudgement>()(
  z.object({
    rolloutId: z.string(),
    score: z.number(),
    stepScores: z.array(z.number()),
    rationale: z.string(),
  }),
);

export const answerRow = schemaFor<StoredAnswer>()(
  z.object({
    rolloutId: z.string(),
    pathKey: z.string(),
    hostKey: z.string(),
    questionId: z.string(),
    version: z.int(),
    pYes: z.number().nullable(),
    source: z.enum(['assertion', 'model']),
  }),
);

/** A question without assertion has null in its column and no field in the record. */
export const questionRow = schemaFor<Question>()(
  questionSchema
    .omit({ assertion: true })
    .extend({ assertion: questionSchema.shape.assertion.nullable() })
    .strip()
    .transform(
      ({ assertion, ...question }): Question =>
        assertion === null || assertion === undefined ? question : { ...question, assertion },
    ),
);

export const trainerMetricsSchema = schemaFor<TrainerMetrics>()(
  z.strictObject({
    loss: z.number(),
    kl: z.number(),
    clipShare: z.number(),
    gradientNorm: z.number(),
  }),
);

export const trainingStepRow = schemaFor<TrainingStepRow>()(
  z.object({
    runId: z.string(),
    shard: z.int(),
    step: z.int(),
    taskId: z.string(),
    outcome: z.enum([
      'updated',
      'below_quorum',
      'judge_error',
      'self_verifier_error',
      'no_gradient',
      'aborted',
    ]),
    success: z.int(),
    failure: z.int(),
    unscored: z.int(),
    meanJudgeScore: z.number().nullable(),
    adapterDigest: digest.nullable(),
    batchDigest: z.string().nullable(),
    metrics: trainerMetricsSchema.nullable(),
    codeVersion: z.string(),
    batch: z.strictObject({ reward: z.number(), verifier: z.number(), deadShare: z.number() }).nullable(),
  }),
);

export const voteRow = schemaFor<StoredVote>()(
  z.object({
    vote: z.int(),
    label: z.enum(['A', 'B', 'TIE', 'INVALID']),
  }),
);

export const historyRow = schemaFor<StoredHistory>()(
  z.object({
    runId: z.string(),
    workflowId: z.string(),
    executionId: z.string(),
    workflowType: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'terminated', 'continued_as_new', 'timed_out']),
    digest,
    events: z.int(),
    codeVersions: z.array(z.string()),
    closedAt: timestamp,
  }),
);

export const latestCloseRow = z.object({ closedAt: timestamp.nullable() });

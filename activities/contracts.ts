/**
 * What crosses a task queue, types only. Everything here is small (under 2 KB, invariant 6): ids, scores, enums
 * and digests. Traces, prompts, replies and weights stay in the blob store.
 */

// ---- outcomes ----------------------------------------------------------------------------------------------

export type UnscoredCause =
  | 'infra'
  | 'blocked'
  | 'judge_error'
  | 'grader_error'
  | 'insufficient_evidence'
  | 'invalid'
  | 'not_executable';

/** How a rollout ended for the statistics. Infrastructure failure is never a number (invariant 1). */
export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure' }
  | { readonly kind: 'unscored'; readonly cause: UnscoredCause };

/** Why the acting stopped. Data: a rollout that used up its budget is graded like any other. */
export type StopReason = 'answered' | 'infeasible' | 'step_budget' | 'time_budget' | 'guard' | 'died';

/** What a workflow keeps of a finished rollout. */
export interface RolloutSummary {
  readonly rolloutId: string;
  /** 1-based life of the environment that produced it; 0 if none ever began. */
  readonly attempt: number;
  readonly outcome: Outcome;
  readonly stopReason: StopReason;
  readonly steps: number;
  /** Digest of the trajectory document; null when no attempt finished. */
  readonly trajectoryDigest: string | null;
}

// ---- training ----------------------------------------------------------------------------------------------

export interface TrainingStepRef {
  readonly runId: string;
  readonly shard: number;
  readonly step: number;
}

export interface TrainingStepPlan {
  readonly groupId: string;
  readonly taskId: string;
  /** Size of the group; ids follow from the group's own (names.ts), so that no payload grows with it. */
  readonly rollouts: number;
  /** Rollouts with a verdict below which nothing is judged, certified or learned (DESIGN 2.1). */
  readonly quorum: number;
  /** False for vanilla GRPO: nobody answers questions, nothing is certified. */
  readonly useBank: boolean;
  /** Set when this training step was committed before: nothing is left to do. */
  readonly committed: TrainingStepSummary | null;
}

/** How a training step ended; only `updated` moved the adapter. `aborted`: the run was cancelled in its middle. */
export type TrainingStepOutcome =
  | 'updated'
  | 'below_quorum'
  | 'judge_error'
  | 'self_verifier_error'
  | 'no_gradient'
  | 'aborted';

export interface TrainingStepSummary {
  readonly step: number;
  readonly taskId: string;
  readonly outcome: TrainingStepOutcome;
  readonly success: number;
  readonly failure: number;
  readonly unscored: number;
  /** Mean judge score of the judged rollouts, in [0, 1]; null if none. */
  readonly meanJudgeScore: number | null;
  readonly adapterDigest: string | null;
}

/** What a training run leaves behind. */
export interface TrainingResult {
  readonly bankDigest: string;
  /** Null for a run without a trainer. */
  readonly adapterDigest: string | null;
  /** Relative distance between averaging the shards' factors and averaging their products (METHOD 5.6). */
  readonly averagingError: number | null;
}

// ---- activities, one interface a task queue ------------------------------------------------------------------

export interface BrowserActivities {
  /** Acts, grades and records one rollout; resumes the attempt that an earlier try began. */
  rollOut(input: { readonly runId: string; readonly rolloutId: string }): Promise<RolloutSummary>;
}

export interface LlmActivities {
  /** Self-verifier over every URL state of one rollout; base model, adapter detached. */
  answerQuestions(input: {
    readonly runId: string;
    readonly rolloutId: string;
  }): Promise<{ readonly states: number; readonly answers: number; readonly invalid: number }>;
  /** One comparison of the chain: its votes, journalled, stopping early (METHOD 6). */
  castVotes(input: ComparisonRef): Promise<ComparisonResult>;
}

export interface ComparisonRef {
  readonly runId: string;
  readonly taskId: string;
  readonly incumbent: string;
  readonly challenger: string;
}

export interface ComparisonResult {
  readonly swap: boolean;
  readonly votes: readonly ('A' | 'B' | 'TIE' | 'INVALID')[];
}

/** One link of the tournament chain; the two are named by their place in generation order. */
export interface ChainLink extends ComparisonResult {
  readonly incumbent: number;
  readonly challenger: number;
}

export interface JudgeActivities {
  judgeGroup(input: {
    readonly runId: string;
    readonly groupId: string;
  }): Promise<
    | { readonly ok: true; readonly judged: number; readonly meanScore: number }
    | { readonly ok: false; readonly reason: string }
  >;
  /** New questions aimed at what the bank fails to separate; they enter the snapshot of the next step. */
  growBank(input: TrainingStepRef): Promise<{
    readonly proposed: number;
    readonly accepted: number;
    readonly deficiency: number;
  }>;
}

export interface CpuActivities {
  planTrainingStep(input: TrainingStepRef): Promise<TrainingStepPlan>;
  /** Trackers and certificates: one transaction, idempotent by training step. */
  certify(input: TrainingStepRef): Promise<{ readonly observations: number; readonly certified: number }>;
  /** Rewards, returns and advantages from the snapshot taken before the step; null: there is nothing to learn. */
  buildBatch(input: TrainingStepRef): Promise<{ readonly batchDigest: string | null }>;
  commitTrainingStep(
    input: TrainingStepRef & { readonly outcome: TrainingStepOutcome },
  ): Promise<TrainingStepSummary>;
  /** Polarity repair and retirement (METHOD 5.4), after the bank grew. */
  repairBank(input: TrainingStepRef): Promise<{ readonly repaired: number; readonly retired: number }>;
  /** Averages the adapters, merges the shards' banks and freezes the result. */
  finishTraining(input: { readonly runId: string }): Promise<TrainingResult>;
  setRunState(input: {
    readonly runId: string;
    readonly state: RunState;
    readonly reason: string;
  }): Promise<void>;
  /** Ends a run for good: what was under way is recorded as aborted, what was finished stays. */
  cancelRun(input: { readonly runId: string }): Promise<void>;
  /** A rollout whose activity was given up, as the store has it; closed as `unscored: infra` if no attempt finished. */
  closeRollout(input: { readonly rolloutId: string }): Promise<RolloutSummary>;
  /** Task ids of the run's pinned list, [from, to). */
  listEvaluationTasks(input: {
    readonly runId: string;
    readonly from: number;
    readonly to: number;
  }): Promise<readonly string[]>;
  planEvaluationTask(input: { readonly runId: string; readonly taskId: string }): Promise<{
    /** K. */
    readonly rollouts: number;
    /** False when the run has no bank or K is 1: the greedy rollout is emitted. */
    readonly select: boolean;
    readonly done: EvaluationTaskResult | null;
  }>;
  recordSelection(input: {
    readonly runId: string;
    readonly taskId: string;
    /** Place of the emitted rollout in generation order; null when no candidate was left. */
    readonly selected: number | null;
    readonly comparisons: readonly ChainLink[];
  }): Promise<EvaluationTaskResult>;
}

export interface GpuActivities {
  /** Publishes the adapter that every shard of the run starts from: equal bytes for all. None without a trainer. */
  initialiseAdapter(input: { readonly runId: string }): Promise<{ readonly adapterDigest: string | null }>;
  /** Applied exactly once per (run, shard, training step) (invariant 4). */
  updateAdapter(input: TrainingStepRef & { readonly batchDigest: string }): Promise<{
    readonly adapterDigest: string;
    readonly loss: number;
    readonly kl: number;
    readonly clipShare: number;
  }>;
}

export type RunState = 'created' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

export interface EvaluationTaskResult {
  readonly taskId: string;
  /** Emitted rollout; null when no candidate was left. */
  readonly selected: string | null;
  readonly greedy: Outcome;
  readonly emitted: Outcome;
  readonly swaps: number;
}

/** Rows of the bank store as its users see them: data only, every field readonly. Digests are sha256 in hex. */
import type {
  Outcome,
  RunState,
  StopReason,
  TrainingStepOutcome,
  TrainingStepSummary,
} from '../activities/contracts.ts';
import type { Action, ActionResult, ActionTarget, GuardFlag } from '../benchmarks/contract.ts';
import type { Answer, CallReport, TrainerMetrics, VoteLabel } from '../models/contract.ts';

// ---- runs --------------------------------------------------------------------------------------------------

export type RunKind = 'train' | 'evaluate';

export interface NewRun {
  /** The run's name is its id: `demo-s1-1`. */
  readonly id: string;
  readonly kind: RunKind;
  readonly seed: number;
  /** Whatever could change the result (invariant 7), flat: `judge.model` → value. */
  readonly identity: Readonly<Record<string, string | number | boolean | null>>;
  /** Resolved configuration. */
  readonly config: unknown;
  readonly codeVersion: string;
}

export interface Run extends NewRun {
  readonly state: RunState;
  readonly stateReason: string;
  readonly createdAt: string;
  /** Frozen bank and averaged adapter of a finished training run. */
  readonly bankDigest: string | null;
  readonly adapterDigest: string | null;
  /** Every code version that worked on the run, oldest first. */
  readonly codeVersions: readonly string[];
}

// ---- rollouts ----------------------------------------------------------------------------------------------

export interface NewRollout {
  readonly id: string;
  readonly runId: string;
  /** The group (training) or evaluation task that owns it: its siblings share the owner. */
  readonly ownerId: string;
  /** Generation order among its siblings, from 0. */
  readonly index: number;
  readonly taskId: string;
  readonly temperature: number;
  /** Adapter that acts; null: the base model. */
  readonly adapterDigest: string | null;
  readonly maxSteps: number;
  /** METHOD and invariant 13: (run seed, shard, training step, task, rollout). */
  readonly seed: readonly (string | number)[];
}

/** One browser step as it was recorded, before the next one began. */
export interface StepRecord {
  readonly index: number;
  /** Canonical URLs around the action. */
  readonly urlBefore: string;
  readonly urlAfter: string;
  readonly action: Action;
  readonly target: ActionTarget | null;
  readonly result: ActionResult;
  /** The observation that the action was chosen from. */
  readonly observationDigest: string;
  readonly screenshotDigest: string | null;
  /** Digest of the application's state after the action; null where the benchmark has none. */
  readonly stateDigest: string | null;
  readonly promptDigest: string;
  readonly tokenIds: readonly number[];
  readonly logProbs: readonly number[];
  readonly toolCallSpan: readonly [start: number, end: number] | null;
  readonly decideMs: number;
  readonly actMs: number;
  readonly settleMs: number;
  readonly observeMs: number;
}

export interface AttemptClaim {
  /** 1-based. */
  readonly attempt: number;
  /** Fencing token: writes that carry an older one are refused, so a zombie cannot write. */
  readonly fence: number;
  /** Steps that this attempt recorded before, to be re-executed. */
  readonly steps: readonly StepRecord[];
  /** Digest after reset, recorded by the first claim that opened the environment; null before. */
  readonly initialStateDigest: string | null;
  /** Consecutive attempts that died without recording a step. */
  readonly barrenAttempts: number;
  readonly finished: FinishedRollout | null;
}

export interface AttemptEnding {
  readonly outcome: Outcome;
  readonly stopReason: StopReason;
  readonly answer: string | null;
  readonly finalUrl: string;
  readonly finalObservationDigest: string | null;
  readonly evidenceDigest: string | null;
  readonly verdictMessage: string;
  readonly flags: readonly GuardFlag[];
}

/** `outcome` and `verdictMessage` are those of the latest grade. */
export interface FinishedRollout extends AttemptEnding {
  /** 0 if no attempt ever began. */
  readonly attempt: number;
  readonly steps: number;
  /** Digest of everything about the trajectory that does not depend on clocks. */
  readonly trajectoryDigest: string;
}

export interface AttemptRecord {
  readonly attempt: number;
  /** Worker that claimed it last. */
  readonly worker: string;
  readonly steps: number;
  /** `open`, `finished`, or the cause of death. */
  readonly ending: string;
  /** Blob with every request that its last life made; null: it is open, its worker died, or it had no environment. */
  readonly requestLogDigest: string | null;
}

export interface RolloutCounts {
  readonly open: number;
  readonly success: number;
  readonly failure: number;
  readonly unscored: number;
}

/** A verdict, by a grader or by a person who edits one; the pair (grader, ref) names it. */
export interface Grade {
  /** Program, model or person: `outcome-verifier`, `webjudge`. */
  readonly grader: string;
  /** What made it give this verdict, so that a repeat is recognised: a run, a protocol's digest, an edit's name. */
  readonly ref: string;
  readonly outcome: Outcome;
  readonly message: string;
  /** Set when a person overruled a grader. */
  readonly edit: { readonly author: string; readonly reason: string } | null;
}

export interface StoredRollout {
  readonly rollout: NewRollout;
  readonly finished: FinishedRollout | null;
  readonly steps: readonly StepRecord[];
}

// ---- groups and training steps -----------------------------------------------------------------------------

export interface NewGroup {
  readonly id: string;
  readonly runId: string;
  readonly shard: number;
  readonly step: number;
  readonly taskId: string;
  readonly adapterDigest: string | null;
}

export interface StoredJudgement {
  readonly rolloutId: string;
  /** Trajectory score in [0, 1]. */
  readonly score: number;
  readonly stepScores: readonly number[];
  readonly rationale: string;
}

export interface TrainingStepRow extends TrainingStepSummary {
  readonly runId: string;
  readonly shard: number;
  readonly outcome: TrainingStepOutcome;
  readonly batchDigest: string | null;
  readonly metrics: TrainerMetrics | null;
  readonly codeVersion: string;
  /** Means over the batch: reward, verifier part of it, share of members at fallback level 3 or without variance. */
  readonly batch: { readonly reward: number; readonly verifier: number; readonly deadShare: number } | null;
}

// ---- answers, certification, selection ---------------------------------------------------------------------

export interface StoredAnswer extends Answer {
  readonly rolloutId: string;
  readonly pathKey: string;
  readonly hostKey: string;
}

export interface StepKey {
  readonly runId: string;
  readonly shard: number;
  readonly step: number;
}

export interface StoredVote {
  readonly vote: number;
  readonly label: VoteLabel;
}

export interface Comparison {
  readonly incumbent: string;
  readonly challenger: string;
  readonly votes: readonly StoredVote[];
  readonly swap: boolean;
}

export interface Selection {
  readonly runId: string;
  readonly taskId: string;
  readonly bankDigest: string | null;
  readonly selected: string | null;
  readonly comparisons: readonly Comparison[];
  /** Of the sources that decided. */
  readonly codeVersion: string;
}

export interface PublishedAdapter {
  readonly batchDigest: string;
  readonly digest: string;
  readonly metrics: TrainerMetrics | null;
}

// ---- workflow histories --------------------------------------------------------------------------------------

/** One closed execution of a workflow, exported. */
export interface StoredHistory {
  readonly runId: string;
  readonly workflowId: string;
  /** Temporal's id of the execution: a workflow that continued as new or was started again has several. */
  readonly executionId: string;
  readonly workflowType: string;
  readonly status: 'completed' | 'failed' | 'cancelled' | 'terminated' | 'continued_as_new' | 'timed_out';
  /** Blob of the history as gzipped JSON. */
  readonly digest: string;
  readonly events: number;
  /** Of the workers that took its decisions, oldest first: replaying it needs workflow code that agrees with them. */
  readonly codeVersions: readonly string[];
  readonly closedAt: string;
}

// ---- model calls -------------------------------------------------------------------------------------------

export interface ModelCallKey {
  readonly runId: string;
  readonly purpose: 'policy' | 'judge' | 'self-verifier' | 'selector' | 'proposer' | 'grader';
  /** Policy: `<rollout>#<attempt>`; otherwise the group, rollout or comparison. */
  readonly owner: string;
  readonly ordinal: number;
}

export interface CallRecord {
  readonly key: ModelCallKey;
  readonly requestDigest: string;
  readonly state: 'running' | 'done' | 'failed';
  /** Times that the call was begun; above 1 after a failure or a death. */
  readonly executions: number;
  /** Times that a reply came back and was paid for. */
  readonly replies: number;
  /** Executions that may have been paid for and gave no reply that can be used. */
  readonly lostReplies: number;
  readonly model: string | null;
  readonly replyDigest: string | null;
  /** Of the reply that was kept. */
  readonly latencyMs: number | null;
  /** With those of failed executions, as far as they are known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Like the tokens; null as soon as one price is unknown. */
  readonly costUsd: number | null;
  /** Of the reply that was kept; null for parts that ask no server. */
  readonly report: CallReport | null;
  /** Why the last failed execution failed. */
  readonly error: string | null;
}

/** Calls, tokens and dollars of one purpose. Counts replies, discarded ones too: they were paid for. */
export interface PurposeCosts {
  readonly purpose: ModelCallKey['purpose'];
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null as soon as one price is unknown. */
  readonly costUsd: number | null;
  /** Tries that may have been paid for beyond that, and gave no reply that can be used. */
  readonly lostReplies: number;
}

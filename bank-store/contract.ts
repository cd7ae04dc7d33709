/**
 * The memory of the house, as its users see it. Every write is keyed by its meaning: a repeat changes nothing,
 * and a repeat with other content is refused. Payloads go to the blob store, rows keep digests.
 */
import type {
  Outcome,
  RunState,
  StopReason,
  TrainingStepOutcome,
  TrainingStepSummary,
} from '../activities/contracts.ts';
import type { Action, ActionResult, ActionTarget, GuardFlag, Task } from '../benchmarks/contract.ts';
import type { Answer, CallCost, TrainerMetrics, VoteLabel } from '../models/contract.ts';
import type { BankSnapshot, Certificate, Question, Tracker } from '../workflows/method/types.ts';

// ---- blobs -------------------------------------------------------------------------------------------------

/** Content-addressed bytes: the digest is the sha256 in hex, checked on every read. */
export interface BlobStore {
  put(bytes: Uint8Array): Promise<string>;
  /** Throws `BlobMissing` or `BlobAltered`, each naming the digest. */
  get(digest: string): Promise<Uint8Array>;
  /** Canonical JSON (RFC 8785), so that equal values have equal digests. */
  putJson(value: unknown): Promise<string>;
  /** The caller parses what it gets: blobs are a door. */
  getJson(digest: string): Promise<unknown>;
  has(digest: string): Promise<boolean>;
}

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

export interface FinishedRollout extends AttemptEnding {
  readonly attempt: number;
  readonly steps: number;
  /** Digest of everything about the trajectory that does not depend on clocks. */
  readonly trajectoryDigest: string;
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
  readonly reason: string;
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
}

export interface ModelCallKey {
  readonly runId: string;
  readonly purpose: 'policy' | 'judge' | 'self-verifier' | 'selector' | 'proposer' | 'grader';
  /** Policy: `<rollout>#<attempt>`; otherwise the group, rollout or comparison. */
  readonly owner: string;
  readonly ordinal: number;
}

// ---- the store ---------------------------------------------------------------------------------------------

export interface BankStore {
  readonly blobs: BlobStore;

  /** Refuses a name that exists with another identity or kind (`RunIdentityMismatch`, listing the differences). */
  createRun(run: NewRun): Promise<Run>;
  getRun(runId: string): Promise<Run>;
  listRuns(): Promise<readonly Run[]>;
  setRunState(runId: string, state: RunState, reason: string): Promise<void>;
  finishRun(
    runId: string,
    result: { readonly bankDigest: string | null; readonly adapterDigest: string | null },
  ): Promise<void>;

  /** Tasks are immutable: the same id with other content is refused. */
  registerTasks(tasks: readonly Task[]): Promise<void>;
  getTask(taskId: string): Promise<Task>;
  /** Fixes the run's task list (invariant 10) and returns its digest; another list under the same run is refused. */
  pinTaskList(runId: string, taskIds: readonly string[]): Promise<string>;
  taskList(runId: string): Promise<readonly string[]>;

  openGroup(group: NewGroup, rollouts: readonly NewRollout[]): Promise<void>;
  getGroup(groupId: string): Promise<NewGroup>;
  openRollouts(rollouts: readonly NewRollout[]): Promise<void>;
  /**
   * Takes the current attempt over with a higher fence, or begins the first one. Also returns a finished rollout's
   * record, so that nothing is run twice (invariant 3).
   */
  claimAttempt(rolloutId: string, worker: string): Promise<AttemptClaim>;
  /** First claim records it, later ones compare; false: the environment no longer resets to the same bytes. */
  confirmInitialState(rolloutId: string, fence: number, digest: string): Promise<boolean>;
  /** Throws `FencedError` when the fence is old. A repeat of the same step changes nothing. */
  recordStep(rolloutId: string, fence: number, step: StepRecord): Promise<void>;
  /** Ends the attempt as dead, keeps it with its cause (invariant 5), and begins the next one. */
  abandonAttempt(rolloutId: string, fence: number, cause: string): Promise<AttemptClaim>;
  finishRollout(rolloutId: string, fence: number, ending: AttemptEnding): Promise<FinishedRollout>;
  /** For a rollout that no attempt could finish (invariant 1: unscored, never a number). Keeps a finished one. */
  failRollout(rolloutId: string, outcome: Outcome, cause: string): Promise<void>;
  /** The final attempt's steps; null steps never occur. */
  getRollout(rolloutId: string): Promise<StoredRollout>;
  /** Siblings in generation order. */
  rolloutsOf(ownerId: string): Promise<readonly StoredRollout[]>;
  attemptsOf(
    rolloutId: string,
  ): Promise<readonly { readonly attempt: number; readonly steps: number; readonly ending: string }[]>;

  /**
   * Journal (invariant 2): returns the stored reply for (key, request digest), or executes, stores and returns it.
   * Requests are hashed as canonical JSON. Replies up to 4 KB sit inline, larger ones in a blob.
   */
  callOnce(
    key: ModelCallKey,
    request: unknown,
    execute: () => Promise<{ readonly reply: unknown; readonly cost: CallCost; readonly model: string }>,
  ): Promise<unknown>;

  saveJudgements(groupId: string, judgements: readonly StoredJudgement[]): Promise<void>;
  judgementsOf(groupId: string): Promise<readonly StoredJudgement[]>;

  /** Append-only versions; `step` is the training step whose snapshot first contains them is step + 1. */
  saveQuestions(at: StepKey, questions: readonly Question[]): Promise<void>;
  /** Replaces the answers of one rollout as a whole. */
  saveAnswers(rolloutId: string, answers: readonly StoredAnswer[]): Promise<void>;
  /** In stored order (state, question). */
  answersOf(rolloutIds: readonly string[]): Promise<readonly StoredAnswer[]>;

  /** Current trackers of the shard, all cells: the state after the latest certified training step. */
  trackers(runId: string, shard: number): Promise<readonly Tracker[]>;
  /**
   * One transaction, idempotent by step: reads the trackers, applies `update`, writes the trackers that it returns and
   * appends the certificates. A repeat for the same step returns false and changes nothing; steps only go forward.
   */
  certifyStep(
    at: StepKey,
    update: (trackers: readonly Tracker[]) => {
      readonly trackers: readonly Tracker[];
      readonly certificates: readonly Certificate[];
    },
  ): Promise<boolean>;
  /** Questions and their latest certificates as they stood after `step`; −1 is the state before training. */
  snapshotAt(at: StepKey): Promise<{
    readonly questions: readonly Question[];
    readonly certificates: readonly Certificate[];
  }>;
  /** Writes the canonical document under its digest (invariant 8) and returns the digest. */
  freezeBank(runId: string, snapshot: Omit<BankSnapshot, 'sha256'>): Promise<string>;
  loadBank(digest: string): Promise<BankSnapshot>;

  /** Once per (run, shard, step); the same key with another batch digest throws `BatchConflictError`. */
  publishAdapter(
    at: StepKey,
    adapter: {
      readonly batchDigest: string;
      readonly digest: string;
      readonly metrics: TrainerMetrics | null;
    },
  ): Promise<{ readonly digest: string; readonly metrics: TrainerMetrics | null }>;
  publishedAdapter(at: StepKey): Promise<{
    readonly batchDigest: string;
    readonly digest: string;
    readonly metrics: TrainerMetrics | null;
  } | null>;
  /** The newest adapter of the shard at or before `step`. */
  latestAdapter(at: StepKey): Promise<{ readonly step: number; readonly digest: string } | null>;

  commitTrainingStep(row: TrainingStepRow): Promise<TrainingStepRow>;
  trainingStep(at: StepKey): Promise<TrainingStepRow | null>;
  trainingSteps(runId: string): Promise<readonly TrainingStepRow[]>;

  saveSelection(selection: Selection): Promise<void>;
  selectionOf(runId: string, taskId: string): Promise<Selection | null>;
  selections(runId: string): Promise<readonly Selection[]>;

  /** Calls, tokens and dollars by purpose; `costUsd` is null as soon as one price is unknown. */
  costs(runId: string): Promise<
    readonly {
      readonly purpose: string;
      readonly calls: number;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly costUsd: number | null;
    }[]
  >;
  /** Counts by outcome over the run's rollouts, for progress displays. */
  rolloutCounts(runId: string): Promise<{
    readonly open: number;
    readonly success: number;
    readonly failure: number;
    readonly unscored: number;
  }>;
}

/**
 * The memory of the house, as its users see it. Every write is keyed by its meaning: a repeat changes nothing, and
 * a repeat with other content throws `ContentConflict`. Payloads go to the blob store, rows keep their digests.
 * Every method may also throw `StoreUnavailable`, which passes by itself; the others in errors.ts do not.
 * Tasks, steps and questions are parsed on the way in too (`ZodError`), so that what was stored can be read.
 * Stored text is well formed: NUL and lone surrogates come back as U+FFFD.
 */
import type { Outcome, RunState } from '../activities/contracts.ts';
import type { Task } from '../benchmarks/contract.ts';
import type { AccountLimits, CallCost, ProviderGate } from '../models/contract.ts';
import type { BankSnapshot, Certificate, Question, Tracker } from '../workflows/method/types.ts';
import type {
  AttemptClaim,
  AttemptEnding,
  AttemptRecord,
  CallRecord,
  FinishedRollout,
  Grade,
  ModelCallKey,
  NewGroup,
  NewRollout,
  NewRun,
  PublishedAdapter,
  PurposeCosts,
  RolloutCounts,
  Run,
  Selection,
  StepKey,
  StepRecord,
  StoredAnswer,
  StoredHistory,
  StoredJudgement,
  StoredRollout,
  TrainingStepRow,
} from './records.ts';

export type * from './records.ts';

/** Content-addressed bytes: the digest is the sha256 in hex, checked on every read. */
export interface BlobStore {
  /** Durable when it returns; bytes that are there already are not written again. */
  put(bytes: Uint8Array): Promise<string>;
  /** Throws `BlobMissing` or `BlobAltered`, each naming the digest. */
  get(digest: string): Promise<Uint8Array>;
  /** Canonical JSON (RFC 8785), so that equal values have equal digests. */
  putJson(value: unknown): Promise<string>;
  /** The caller parses what it gets: blobs are a door. */
  getJson(digest: string): Promise<unknown>;
  has(digest: string): Promise<boolean>;
}

export interface RunStore {
  /**
   * Returns the run of that name, made now or before, with the configuration given last. Throws
   * `RunIdentityMismatch`, listing the differences, if it exists with another identity, kind or seed (invariant 7).
   */
  createRun(run: NewRun): Promise<Run>;
  getRun(runId: string): Promise<Run>;
  /** Newest first. */
  listRuns(): Promise<readonly Run[]>;
  setRunState(runId: string, state: RunState, reason: string): Promise<void>;
  /** Records the results and completes the run. */
  finishRun(
    runId: string,
    result: { readonly bankDigest: string | null; readonly adapterDigest: string | null },
  ): Promise<void>;
}

export interface TaskStore {
  /** Tasks are immutable: the same id with other content is refused. */
  registerTasks(tasks: readonly Task[]): Promise<void>;
  getTask(taskId: string): Promise<Task>;
  /** Fixes the run's list of registered tasks (invariant 10) and returns its digest; another list is refused. */
  pinTaskList(runId: string, taskIds: readonly string[]): Promise<string>;
  taskList(runId: string): Promise<readonly string[]>;
}

export interface GroupStore {
  openGroup(group: NewGroup, rollouts: readonly NewRollout[]): Promise<void>;
  getGroup(groupId: string): Promise<NewGroup>;
}

export interface RolloutStore {
  openRollouts(rollouts: readonly NewRollout[]): Promise<void>;
  /** With the steps of the latest attempt. */
  getRollout(rolloutId: string): Promise<StoredRollout>;
  /** Siblings in generation order. */
  rolloutsOf(ownerId: string): Promise<readonly StoredRollout[]>;
  attemptsOf(rolloutId: string): Promise<readonly AttemptRecord[]>;
  /** Counts by outcome over the run's rollouts, for progress displays. */
  rolloutCounts(runId: string): Promise<RolloutCounts>;
}

/** The lives of a rollout. A writer shows the fence of its claim; an older fence than the latest throws `FencedError`. */
export interface AttemptStore {
  /**
   * Takes the current attempt over with a higher fence, or begins the first one. A finished rollout comes back with
   * its record, so that nothing is run twice (invariant 3).
   */
  claimAttempt(rolloutId: string, worker: string): Promise<AttemptClaim>;
  /** First claim records it, later ones compare; false: the environment no longer resets to the same bytes. */
  confirmInitialState(rolloutId: string, fence: number, digest: string): Promise<boolean>;
  /** Throws `StepGap` when an earlier step is missing. A repeat of the same step changes nothing. */
  recordStep(rolloutId: string, fence: number, step: StepRecord): Promise<void>;
  /** The attempt's request log; that of a later life takes its place. Its blob has to be there before. */
  keepRequestLog(rolloutId: string, fence: number, digest: string): Promise<void>;
  /**
   * A life of the attempt ended without recording a step, and the next one may resume it; returns how many in a row
   * have ended so.
   */
  noteInterruption(rolloutId: string, fence: number): Promise<number>;
  /** Ends the attempt as dead, keeps it with its cause (invariant 5), and begins the next one. */
  abandonAttempt(rolloutId: string, fence: number, cause: string): Promise<AttemptClaim>;
  finishRollout(rolloutId: string, fence: number, ending: AttemptEnding): Promise<FinishedRollout>;
  /**
   * Finishes a rollout that no attempt could, with stop reason `died` (invariant 1: unscored, never a number). Keeps
   * a finished one; fences out an attempt that still runs.
   */
  failRollout(rolloutId: string, outcome: Outcome, cause: string): Promise<void>;
}

export interface GradeStore {
  /** A later verdict on a finished rollout. Its outcome becomes the latest grade's; earlier grades stay. */
  gradeRollout(rolloutId: string, grade: Grade): Promise<void>;
  /** Oldest first; the first one is the outcome with which the rollout finished. */
  gradesOf(rolloutId: string): Promise<readonly Grade[]>;
}

export interface Journal {
  /**
   * Invariant 2: returns the stored reply for (key, request digest), or executes, stores and returns it. Both ways
   * the reply is what canonical JSON keeps of it. Concurrent calls wait for the one that executes and throw
   * `CallInFlight` when that takes too long; a call whose owner died is taken over once its lease ran out. The signal
   * ends the wait. Replies up to 4 KB sit inline, larger ones in a blob.
   */
  callOnce(
    key: ModelCallKey,
    request: unknown,
    execute: (purse: Purse) => Promise<PaidReply | FailedExecution>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** Two records with one key differ in their request: the caller was not deterministic. */
  callsOf(runId: string, owner: string): Promise<readonly CallRecord[]>;
  /** What the model said, as it was kept; null for a call without a reply. The caller parses it. */
  replyTo(call: Pick<CallRecord, 'key' | 'requestDigest'>): Promise<unknown>;
  costs(runId: string): Promise<readonly PurposeCosts[]>;
}

export interface PaidReply {
  readonly reply: unknown;
  readonly cost: CallCost;
  readonly model: string;
}

/** An execution that ended without a reply. One that throws is taken for one that cost nothing. */
export interface FailedExecution {
  /** Thrown to the caller of `callOnce`. */
  readonly error: unknown;
  /** What it is known to have cost; null: nothing. */
  readonly spent: CallCost | null;
  /** Whether a reply may have been made, and paid for beyond `spent`. */
  readonly lostReply: boolean;
  /** Whether it takes a person to ask again: then lost replies are counted anew. */
  readonly isFault: boolean;
}

/** The money of one call in flight. */
export interface Purse {
  /** Earlier executions that lost a reply, since the last one that ended with a fault. */
  readonly lostReplies: number;
  /**
   * Sets dollars aside for this call if every limit leaves room for them beside what is spent and what other calls
   * in flight have set aside; else returns the first limit that does not, and sets nothing aside.
   */
  reserve<Limit extends SpendingLimit>(usd: number, limits: readonly Limit[]): Promise<Overrun<Limit> | null>;
}

export interface SpendingLimit {
  readonly usd: number;
  /** Calls whose owner is one of these, or lies below it (`<owner>/…`, `<owner>#…`); null: all of the run. */
  readonly owners: readonly string[] | null;
}

export interface Spending {
  /** Dollars over all replies, discarded ones too; null as soon as one price was unknown. */
  readonly spentUsd: number | null;
  readonly reservedUsd: number;
}

export interface Overrun<Limit extends SpendingLimit> extends Spending {
  readonly limit: Limit;
}

export interface AccountStore {
  /**
   * The door to one account, the same for all workers. `enter` throws `AccountBusy` when the wait takes too long.
   * Workers with different limits share what is used and each keep their own.
   */
  providerGate(account: string, limits: AccountLimits): ProviderGate;
}

export interface JudgementStore {
  /** All judgements of the group at once. */
  saveJudgements(groupId: string, judgements: readonly StoredJudgement[]): Promise<void>;
  /** In the generation order of the rollouts. */
  judgementsOf(groupId: string): Promise<readonly StoredJudgement[]>;
}

export interface AnswerStore {
  /** Replaces the answers of one rollout as a whole. */
  saveAnswers(rolloutId: string, answers: readonly StoredAnswer[]): Promise<void>;
  /** Rollouts in the order asked for, answers in the order stored. */
  answersOf(rolloutIds: readonly string[]): Promise<readonly StoredAnswer[]>;
}

export interface CertificationStore {
  /**
   * Append-only. Questions saved at step n are in `snapshotAt` n, which training step n + 1 uses; −1 is for seeds.
   * A later save of the same version (another status) holds from its own step on. Throws `StepOrderError` when a
   * later step is certified already: its snapshot would change.
   */
  saveQuestions(at: StepKey, questions: readonly Question[]): Promise<void>;
  /** Current trackers of the shard, all cells: the state after the latest certified training step. */
  trackers(runId: string, shard: number): Promise<readonly Tracker[]>;
  /**
   * One transaction, idempotent by step: reads the trackers, applies `update`, writes the trackers that it returns
   * and appends the certificates. A repeat for the same step returns false and changes nothing; an earlier step
   * throws `StepOrderError`. `update` is pure: it runs again when the transaction has to.
   */
  certifyStep(
    at: StepKey,
    update: (trackers: readonly Tracker[]) => {
      readonly trackers: readonly Tracker[];
      readonly certificates: readonly Certificate[];
    },
  ): Promise<boolean>;
  /** Question versions that held a certificate under any key after any step up to this one. */
  everCertified(at: StepKey): Promise<readonly Pick<Certificate, 'qid' | 'version'>[]>;
  /** Questions and their latest certificates as they stood after `step`; −1 is the state before training. */
  snapshotAt(at: StepKey): Promise<{
    readonly questions: readonly Question[];
    readonly certificates: readonly Certificate[];
  }>;
}

export interface BankDocuments {
  /**
   * Writes the canonical document (METHOD 1.1) under its digest and returns the digest. Left out are trackers and
   * the run's own ids in provenance (`rationaleId`, `groupIds`), which its question rows keep (invariant 8).
   */
  freezeBank(runId: string, snapshot: Omit<BankSnapshot, 'sha256'>): Promise<string>;
  loadBank(digest: string): Promise<BankSnapshot>;
}

export interface AdapterStore {
  /**
   * Once per (run, shard, step): a repeat returns what was published; another batch digest throws
   * `BatchConflictError`. The blob has to be there before.
   */
  publishAdapter(at: StepKey, adapter: PublishedAdapter): Promise<PublishedAdapter>;
  publishedAdapter(at: StepKey): Promise<PublishedAdapter | null>;
  /** The newest adapter of the shard at or before `step`. */
  latestAdapter(at: StepKey): Promise<{ readonly step: number; readonly digest: string } | null>;
}

export interface TrainingStepStore {
  /** The first commit wins; a repeat returns it, and is refused if it differs in more than the code version. */
  commitTrainingStep(row: TrainingStepRow): Promise<TrainingStepRow>;
  trainingStep(at: StepKey): Promise<TrainingStepRow | null>;
  /** By shard, then step. */
  trainingSteps(runId: string): Promise<readonly TrainingStepRow[]>;
}

export interface SelectionStore {
  saveSelection(selection: Selection): Promise<void>;
  selectionOf(runId: string, taskId: string): Promise<Selection | null>;
  /** By task id. */
  selections(runId: string): Promise<readonly Selection[]>;
}

export interface HistoryStore {
  /** Once per execution: the first export is kept. Its blob has to be there before. */
  saveHistory(history: StoredHistory): Promise<void>;
  /** In the order in which they closed. */
  historiesOf(runId: string): Promise<readonly StoredHistory[]>;
  /** Of all runs; null when none was exported yet. */
  latestClose(): Promise<string | null>;
}

export interface BankStore
  extends RunStore,
    TaskStore,
    GroupStore,
    RolloutStore,
    AttemptStore,
    GradeStore,
    Journal,
    AccountStore,
    JudgementStore,
    AnswerStore,
    CertificationStore,
    BankDocuments,
    AdapterStore,
    TrainingStepStore,
    SelectionStore,
    HistoryStore {
  readonly blobs: BlobStore;
}

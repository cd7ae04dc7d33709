/** What the bank store refuses, and why. What is `retryable` passes by itself. */
/** Base of everything the store throws on purpose; `name` is the class, so that it survives serialisation. */
export abstract class StoreError extends Error {
  /** True when the same call may work later. */
  readonly retryable: boolean = false;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The database cannot be reached, is restarting, is out of resources, or took too long. */
export class StoreUnavailable extends StoreError {
  override readonly retryable = true;
}

/** Somebody else executes this model call and has not come back in time. */
export class CallInFlight extends StoreError {
  override readonly retryable = true;
}

/** A request waited too long for its turn at a provider's account. */
export class AccountBusy extends StoreError {
  override readonly retryable = true;
  /** When it is worth trying again; null: not known. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export class NotFound extends StoreError {}

/** A key that exists with other content: the write was not a repeat. */
export class ContentConflict extends StoreError {}

export class RunIdentityMismatch extends StoreError {
  readonly differences: readonly string[];

  constructor(runId: string, differences: readonly string[]) {
    super(
      `run "${runId}" exists with another identity; start a run with another name, or restore: ${differences.join('; ')}`,
    );
    this.differences = differences;
  }
}

/**
 * The attempt was taken over, given up or finished: the caller should stop. Whoever is still wanted claims again, since
 * the one that claimed last may be a zombie: a worker that was suspended between taking an activity and its claim.
 */
export class FencedError extends StoreError {
  override readonly retryable = true;
}

/** A browser step was recorded before the one that precedes it. */
export class StepGap extends StoreError {}

/** A training step that would change what a later one has already seen. */
export class StepOrderError extends StoreError {}

/** A second batch for one training step (invariant 4). */
export class BatchConflictError extends StoreError {}

export class BlobMissing extends StoreError {}

export class BlobAltered extends StoreError {}

/** The database was migrated by other code. */
export class MigrationError extends StoreError {}

/** A row or document that does not have the shape this code writes. */
export class StoredDataInvalid extends StoreError {}

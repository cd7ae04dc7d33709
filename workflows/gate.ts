import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { pausingReason } from './failures.ts';

/** Where work stops while its run is paused: between two pieces, a training step or an evaluation task each. */
export class Gate {
  #closedFor: string | null;
  #underWay = 0;

  /** `closedFor`: why the gate is closed from the start; null: it is open. */
  constructor(closedFor: string | null) {
    this.#closedFor = closedFor;
  }

  get closedFor(): string | null {
    return this.#closedFor;
  }

  get isClosed(): boolean {
    return this.#closedFor !== null;
  }

  /** Closed, and what passed before has ended. */
  get isQuiet(): boolean {
    return this.isClosed && this.#underWay === 0;
  }

  /** The first reason stands. */
  close(reason: string): void {
    this.#closedFor ??= reason;
  }

  open(): void {
    this.#closedFor = null;
  }

  untilOpen(): Promise<void> {
    return condition(() => !this.isClosed);
  }

  /**
   * Does a piece of work once the gate is open. A fault that every later piece would meet closes the gate; the piece
   * is done again when somebody has opened it, and finds what it finished in the store.
   */
  async through<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.untilOpen();
      this.#underWay += 1;
      try {
        return await act();
      } catch (error) {
        const reason = pausingReason(error);
        if (reason === null) throw error;
        this.close(reason);
      } finally {
        this.#underWay -= 1;
      }
    }
  }
}

/** Runs `keeper`, which has no end of its own, beside `act`; both have ended when this returns. */
export async function besides<T>(keeper: () => Promise<never>, act: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  const kept = scope.run(keeper).catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  // A keeper that fails must not leave the work unwatched, nor its failure unheard.
  const failed = kept.then(() => new Promise<never>(() => {}));
  try {
    return await Promise.race([act(), failed]);
  } finally {
    scope.cancel();
    await kept.catch(() => {});
  }
}

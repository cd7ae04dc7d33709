import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { pausingReason } from './failures.ts';

/** Why a gate is closed. */
export interface Closing {
  readonly reason: string;
  /** Which closing of the run it is; null: whoever has this gate closed it, and the run does not know yet. */
  readonly order: number | null;
}

/** Where work stops while its run is paused: between two pieces, a training step or an evaluation task each. */
export class Gate {
  #closing: Closing | null;
  #openings = 0;
  #underWay = 0;

  /** `closing`: why the gate is closed from the start; null: it is open. */
  constructor(closing: Closing | null) {
    this.#closing = closing;
  }

  get closing(): Closing | null {
    return this.#closing;
  }

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  /** Closed, and what passed before has ended. */
  get isQuiet(): boolean {
    return this.isClosed && this.#underWay === 0;
  }

  /** How often it was opened: tells whether it was, even if it has been closed again since. */
  get openings(): number {
    return this.#openings;
  }

  /** The first reason stands. */
  close({ reason, order }: Closing): void {
    const { closing } = this;
    this.#closing = { reason: closing?.reason ?? reason, order: order ?? closing?.order ?? null };
  }

  open(): void {
    if (!this.isClosed) return;
    this.#closing = null;
    this.#openings += 1;
  }

  /** Whoever has waited must not go on before it has looked again: it may have been closed at the same moment. */
  async untilOpen(): Promise<void> {
    while (this.isClosed) await condition(() => !this.isClosed);
  }

  async untilClosed(): Promise<Closing> {
    for (;;) {
      await condition(() => this.isClosed);
      // It may have been opened again before we are told.
      if (this.#closing !== null) return this.#closing;
    }
  }

  /**
   * Does a piece of work once the gate is open. A failure that every later piece would meet closes the gate; the
   * piece is done again when somebody has opened it, and finds what it finished in the store.
   */
  async through<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      while (this.isClosed) await this.untilOpen();
      this.#underWay += 1;
      try {
        return await act();
      } catch (error) {
        const reason = pausingReason(error);
        if (reason === null) throw error;
        this.close({ reason, order: null });
      } finally {
        this.#underWay -= 1;
      }
    }
  }
}

/** Runs `keeper`, which has no end of its own, beside `act`; both have ended when this returns or throws. */
export async function besides<T>(keeper: () => Promise<never>, act: () => Promise<T>): Promise<T> {
  const keeping = new CancellationScope();
  const acting = new CancellationScope();
  const kept = keeping.run(keeper).catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  const acted = acting.run(act);
  // A keeper that fails must not leave the work unwatched, nor its failure unheard.
  const failed = kept.then(() => new Promise<never>(() => {}));
  try {
    return await Promise.race([acted, failed]);
  } finally {
    keeping.cancel();
    acting.cancel();
    await Promise.allSettled([kept, acted]);
  }
}

/** How a request waits for its turn at a provider's account: with a deadline, a reason, and at little cost. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Permit, ProviderGate } from '../models/contract.ts';
import { type Ticket, ticketOf } from './accounts.ts';
import type { AccountStore } from './contract.ts';
import type { Database } from './database.ts';
import { AccountBusy } from './errors.ts';

export interface AccountSettings {
  /** How long a request may wait for its turn. */
  readonly accountWaitMs?: number;
  /** How long after its worker's death a ticket counts. */
  readonly ticketLeaseMs?: number;
}

const LOOK_AGAIN_MS = 50;
/** Somebody else's request may end, or an account be closed, before the time that was computed. */
const LOOK_AGAIN_AT_LEAST_MS = 1_000;

export function accountStore(database: Database, settings: AccountSettings): AccountStore {
  const { accountWaitMs = 300_000, ticketLeaseMs: leaseMs = 10_000 } = settings;
  const lines = new Map<string, Line>();
  return {
    providerGate: (account, limits): ProviderGate => {
      const line = lines.get(account) ?? new Line();
      lines.set(account, line);
      return {
        enter: async (tokens, signal) => {
          const wait = new Wait(account, accountWaitMs, signal);
          const ticket = ticketOf(database, { id: randomUUID(), account, limits, tokens, leaseMs });
          await line.stand(wait, () => takeTurn(ticket, wait));
          return permitOf(ticket, leaseMs);
        },
      };
    },
  };
}

async function takeTurn(ticket: Ticket, wait: Wait): Promise<void> {
  try {
    for (;;) {
      const obstacle = await ticket.tryToEnter();
      if (obstacle === null) return;
      await wait.pause(obstacle.reason, obstacle.waitMs);
    }
  } catch (error) {
    await giveBack(ticket);
    throw error;
  }
}

function permitOf(ticket: Ticket, leaseMs: number): Permit {
  // A renewal that fails only lets one request too many go.
  const renewal = setInterval(() => void ticket.renew().catch(() => undefined), leaseMs / 3);
  return {
    leave: async (ended) => {
      clearInterval(renewal);
      // The reply is worth more than the bookkeeping: what stays behind ends with its lease.
      await ticket.leave(ended).catch(() => undefined);
    },
  };
}

const giveBack = (ticket: Ticket) =>
  ticket.leave({ usage: { inputTokens: 0, outputTokens: 0 }, retryAfterMs: null }).catch(() => undefined);

/** The requests of this process: only the first of them asks the database. */
class Line {
  #last: Promise<void> = Promise.resolve();

  async stand(wait: Wait, act: () => Promise<void>): Promise<void> {
    const before = this.#last;
    const { promise: done, resolve: letNextCome } = Promise.withResolvers<void>();
    this.#last = before.then(() => done);
    try {
      await wait.until(before);
      await act();
    } finally {
      letNextCome();
    }
  }
}

/** Patience of one request: ends with its deadline, or with the caller's signal. */
class Wait {
  readonly #account: string;
  readonly #patienceMs: number;
  readonly #signal: AbortSignal;
  readonly #deadline: number;

  constructor(account: string, patienceMs: number, signal: AbortSignal) {
    this.#account = account;
    this.#patienceMs = patienceMs;
    this.#signal = signal;
    this.#deadline = performance.now() + patienceMs;
  }

  async until(turn: Promise<void>): Promise<void> {
    const ended = new AbortController();
    try {
      const isTurn = await Promise.race([turn.then(() => true), this.#sleep(this.#leftMs(), ended.signal)]);
      if (isTurn !== true) throw this.#busy('other requests of this worker are ahead', null);
    } finally {
      ended.abort();
    }
  }

  /** `waitMs`: when the obstacle is known to be gone; it throws at once if that is too late. */
  async pause(reason: string, waitMs: number | null): Promise<void> {
    if ((waitMs ?? 0) > this.#leftMs() || this.#leftMs() === 0) throw this.#busy(reason, waitMs);
    const pauseMs = Math.max(LOOK_AGAIN_MS, waitMs ?? 0);
    await this.#sleep(Math.min(pauseMs, LOOK_AGAIN_AT_LEAST_MS, this.#leftMs()));
  }

  #leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  async #sleep(ms: number, ended?: AbortSignal): Promise<void> {
    const signal = ended === undefined ? this.#signal : AbortSignal.any([this.#signal, ended]);
    try {
      await sleep(ms, undefined, { signal });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error;
    }
  }

  #busy(reason: string, retryAfterMs: number | null): AccountBusy {
    return new AccountBusy(
      `${this.#account}: no turn within ${Math.round(this.#patienceMs / 1000)} s, because ${reason}; ` +
        'it is tried again later, and higher `limits` let more through',
      retryAfterMs,
    );
  }
}

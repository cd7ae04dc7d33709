import type { LoggedRequest, RequestLog } from '../contract.ts';

/** Far more than an honest rollout makes: a page that asks for ever must not fill the memory. */
const REQUEST_LIMIT = 5_000;
const URL_LIMIT = 500;

/** A request that has arrived, to be completed as it is answered. */
export interface OpenEntry {
  status: number | null;
  readonly flags: string[];
}

/** Everything that one life of an environment was asked for, in order. */
export class RequestLogger {
  readonly #startedAt = performance.now();
  readonly #requests: (LoggedRequest & OpenEntry)[] = [];
  #dropped = 0;

  begin(method: string, url: string): OpenEntry {
    const atMs = Math.round(performance.now() - this.#startedAt);
    const entry = { atMs, method, url: url.slice(0, URL_LIMIT), status: null, flags: [] };
    if (this.#requests.length < REQUEST_LIMIT) this.#requests.push(entry);
    else this.#dropped += 1;
    return entry;
  }

  /** As it stands. */
  read(): RequestLog {
    return { requests: structuredClone(this.#requests), dropped: this.#dropped };
  }
}

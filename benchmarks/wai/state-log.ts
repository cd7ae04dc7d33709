import { setTimeout as sleep } from 'node:timers/promises';

/** A page that sent nothing for this long has nothing on the way any more. */
const QUIET_MS = 50;
const POLL_MS = 10;

/** The states that the pages of one environment have sent, put in the order in which they were sent. */
export class StateLog {
  /** Of each page: the highest number it gave, and how many of its states have arrived. */
  readonly #pages = new Map<string, { highest: number; arrived: number }>();
  #first: unknown = null;
  #latest: unknown = null;
  #arriving = 0;
  #lastChange = Number.NEGATIVE_INFINITY;

  /** What the app was before anybody touched it; null until a page has loaded. */
  get first(): unknown {
    return this.#first;
  }

  /** The state that was sent last; null until a page has loaded. */
  get latest(): unknown {
    return this.#latest;
  }

  /** Runs `read` while a state is on its way in, so that nobody takes the one before it for the last. */
  async receiving<T>(read: () => Promise<T>): Promise<T> {
    this.#arriving += 1;
    try {
      return await read();
    } finally {
      this.#arriving -= 1;
      this.#lastChange = performance.now();
    }
  }

  /** `number` counts the states of one page, from 1. One that was overtaken is not the latest any more. */
  accept(page: string, number: number, state: unknown): void {
    const { highest, arrived } = this.#pages.get(page) ?? { highest: 0, arrived: 0 };
    this.#pages.set(page, { highest: Math.max(highest, number), arrived: arrived + 1 });
    this.#first ??= state;
    if (number > highest) this.#latest = state;
  }

  /** Waits until nothing is on its way. Throws when a state that a page has sent does not come. */
  async settled(limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!this.#isSettled()) {
      if (performance.now() > deadline) {
        throw new Error(
          `The app sent ${this.#missing} states that did not arrive within ${limitMs} ms: its final state is unknown.`,
        );
      }
      await sleep(POLL_MS);
    }
  }

  #isSettled(): boolean {
    const isQuiet = performance.now() - this.#lastChange >= QUIET_MS;
    return this.#arriving === 0 && this.#missing === 0 && isQuiet;
  }

  get #missing(): number {
    return [...this.#pages.values()].reduce((sum, { highest, arrived }) => sum + highest - arrived, 0);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { BankStore, RolloutCounts, Run } from '../bank-store/contract.ts';
import { throughOutages } from './outages.ts';
import { storedConfig } from './stored-config.ts';

const EVERY_MS = 1_000;
/** Counting a run of a week takes long: this is the share of the time that may go into it. */
const LOOKING_SHARE = 0.05;
/** Also after a look that an outage made long. */
const LONGEST_PAUSE_MS = 30_000;
/** Without a terminal, progress goes to a log: a line now and then is enough. */
const LOG_EVERY_MS = 15_000;

/** Shows how far a run is until `ended` settles; returns or throws what that did. */
export async function showProgress<T>(
  store: BankStore,
  run: Run,
  phase: string,
  ended: Promise<T>,
): Promise<T> {
  const display = new ProgressDisplay(phase);
  const look = () => throughOutages(() => measure(store, run));
  const settled = ended.then(
    () => null,
    () => null,
  );
  let lookedAt = performance.now();
  let last = await look();
  const { done } = last;
  const began = Date.now();
  try {
    for (;;) {
      // A pause that is left keeps no process.
      await Promise.race([
        settled,
        sleep(pauseMsAfter(performance.now() - lookedAt), undefined, { ref: false }),
      ]);
      lookedAt = performance.now();
      // An outage is waited out, unless the run is over or a person does not want to wait any longer.
      const now = await Promise.race([look(), settled]);
      if (now === null) break;
      last = now;
      display.show(last, timeLeftMs(done, last, Date.now() - began));
    }
    const result = await ended;
    last = await look();
    return result;
  } finally {
    display.end(last, Date.now() - began);
  }
}

const pauseMsAfter = (lookMs: number): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(EVERY_MS, lookMs / LOOKING_SHARE));

export interface Progress {
  readonly unit: 'training steps' | 'tasks';
  readonly done: number;
  readonly total: number;
  readonly rollouts: RolloutCounts;
}

export async function measure(store: BankStore, run: Run): Promise<Progress> {
  const rollouts = await store.rolloutCounts(run.id);
  const config = storedConfig(run);
  if (config.kind === 'train') {
    const steps = await store.trainingSteps(run.id);
    return { unit: 'training steps', done: steps.length, total: config.steps * config.shards, rollouts };
  }
  const [list, selections] = await Promise.all([store.taskList(run.id), store.selections(run.id)]);
  return { unit: 'tasks', done: selections.length, total: list.length, rollouts };
}

/** Null until something of this phase was done. */
function timeLeftMs(doneBefore: number, { done, total }: Progress, elapsedMs: number): number | null {
  const here = done - doneBefore;
  return here === 0 ? null : (elapsedMs / here) * (total - done);
}

class ProgressDisplay {
  readonly #phase: string;
  #lastLogMs = 0;

  constructor(phase: string) {
    this.#phase = phase;
  }

  show(progress: Progress, leftMs: number | null): void {
    const left = leftMs === null ? '' : `, about ${duration(leftMs)} left`;
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[2K${this.#describe(progress)}${left}`);
    } else if (Date.now() - this.#lastLogMs >= LOG_EVERY_MS) {
      this.#lastLogMs = Date.now();
      process.stderr.write(`${this.#describe(progress)}${left}\n`);
    }
  }

  end(progress: Progress, elapsedMs: number): void {
    const start = process.stderr.isTTY ? '\r\x1b[2K' : '';
    process.stderr.write(`${start}${this.#describe(progress)}, ${duration(elapsedMs)}\n`);
  }

  #describe({ unit, done, total, rollouts }: Progress): string {
    const { success, failure, unscored, open } = rollouts;
    return (
      `${this.#phase}: ${done}/${total} ${unit}; ` +
      `rollouts ${success} succeeded, ${failure} failed, ${unscored} unscored, ${open} open`
    );
  }
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

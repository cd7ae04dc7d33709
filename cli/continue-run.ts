import type { Run } from '../bank-store/contract.ts';
import { RunIdentityMismatch } from '../bank-store/errors.ts';
import type { Place, StartedRun } from './start-run.ts';

export interface NumberedRun {
  /** Runs are named `<stem><n>`, from 1. */
  readonly stem: string;
  /** Runs under a number that are over, and are not to be continued. */
  isOver(name: string, runs: ReadonlyMap<string, Run>): boolean;
  start(name: string): Promise<StartedRun>;
}

/** The newest run of this configuration that is to be continued, else a new one under the next free number. */
export async function continueOrStart(
  { store }: Pick<Place, 'store'>,
  wanted: NumberedRun,
): Promise<StartedRun> {
  const { stem, isOver, start } = wanted;
  const runs = new Map((await store.listRuns()).map((run) => [run.id, run]));
  const numbers = [...runs.keys()]
    .filter((id) => id.startsWith(stem) && /^\d+$/.test(id.slice(stem.length)))
    .map((id) => Number(id.slice(stem.length)))
    .sort((left, right) => right - left);
  for (const number of numbers) {
    const name = `${stem}${number}`;
    if (runs.get(name)?.state === 'cancelled' || isOver(name, runs)) continue;
    const started = await unlessDifferent(() => start(name));
    if (started !== null) return started;
  }
  return start(`${stem}${(numbers[0] ?? 0) + 1}`);
}

/** Null for a run of another configuration, which keeps its name. */
async function unlessDifferent(start: () => Promise<StartedRun>): Promise<StartedRun | null> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof RunIdentityMismatch) return null;
    throw error;
  }
}

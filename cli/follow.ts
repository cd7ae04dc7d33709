import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import type { Run } from '../bank-store/contract.ts';
import { throughOutages } from './outages.ts';
import { showProgress } from './progress.ts';
import type { StartedRun } from './start-run.ts';
import type { Workplace } from './workplace.ts';

/** Ctrl-C, or SIGTERM from a supervisor: not a failure, and nothing is lost. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`stopped by ${signal}; everything finished is kept, and the same command continues`);
    this.name = 'Interrupted';
  }
}

/**
 * Waits for a run to end and shows its progress; returns the run as it is then. Throws for a run that failed, was
 * cancelled or is paused: nobody waits at a terminal for somebody else to resume it.
 */
export async function follow(
  { store, failed }: Workplace,
  { run, handle }: StartedRun,
  phase: string,
): Promise<Run> {
  if (handle === null) return run;
  const read = () => throughOutages(() => store.getRun(run.id));
  const aborter = new AbortController();
  // Whoever leaves before the end must not leave a request behind: its connection is closed next.
  const result = throughOutages(() => handle.client.withAbortSignal(aborter.signal, () => handle.result()));
  const ended = Promise.race([result, failed, interrupted(aborter.signal), paused(read, aborter.signal)]);
  try {
    await showProgress(store, run, phase, ended);
  } catch (error) {
    throw error instanceof WorkflowFailedError ? explain(await read(), error) : error;
  } finally {
    aborter.abort();
    await result.catch(() => undefined);
  }
  return read();
}

/** Rejects with `Interrupted` when this process is asked to end, until `signal` aborts. */
export async function interrupted(signal: AbortSignal): Promise<never> {
  const name = await Promise.race(
    (['SIGINT', 'SIGTERM'] as const).map(async (name) => {
      await once(process, name, { signal });
      return name;
    }),
  );
  throw new Interrupted(name);
}

const LOOK_EVERY_MS = 500;

async function paused(read: () => Promise<Run>, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    const run = await read();
    if (run.state === 'paused') throw new Error(describePaused(run));
  }
}

/** The state in which nothing of a run is under way. */
export function describePaused({ id, stateReason }: Run): string {
  return `${id} is paused: ${stateReason}. It is safe to kill now; \`clift resume ${id}\` goes on.`;
}

/** The innermost cause is the one that names a remedy. */
function explain({ id, kind, state, stateReason }: Run, error: WorkflowFailedError): Error {
  if (state === 'cancelled') return new Error(`the ${kind} run ${id} was cancelled: ${stateReason}`);
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  return new Error(`the ${kind} run ${id} failed: ${cause.message}`, { cause: error });
}

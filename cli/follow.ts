import { once } from 'node:events';
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

/** Waits for a run to end and shows its progress; returns the run as it is then. */
export async function follow(
  { store, failed }: Workplace,
  { run, handle }: StartedRun,
  phase: string,
): Promise<Run> {
  if (handle === null) return run;
  const read = () => throughOutages(() => store.getRun(run.id));
  const aborter = new AbortController();
  const ended = Promise.race([throughOutages(() => handle.result()), failed, interrupted(aborter.signal)]);
  try {
    await showProgress(store, run, phase, ended);
  } catch (error) {
    throw error instanceof WorkflowFailedError ? explain(await read(), error) : error;
  } finally {
    aborter.abort();
  }
  return read();
}

async function interrupted(signal: AbortSignal): Promise<never> {
  const name = await Promise.race(
    (['SIGINT', 'SIGTERM'] as const).map(async (name) => {
      await once(process, name, { signal });
      return name;
    }),
  );
  throw new Interrupted(name);
}

/** The innermost cause is the one that names a remedy. */
function explain({ id, kind, state }: Run, error: WorkflowFailedError): Error {
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  const what = state === 'paused' ? 'is paused' : 'failed';
  return new Error(`the ${kind} run ${id} ${what}: ${cause.message}`, { cause: error });
}

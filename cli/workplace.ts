import { Client, Connection } from '@temporalio/client';
import type { BankStore } from '../bank-store/contract.ts';
import { createBankStore } from '../bank-store/index.ts';
import { ensureChromium } from '../infra/chromium.ts';
import type { Report } from '../infra/report.ts';
import { type Stack, startStack } from '../infra/stack.ts';
import { watchStack } from '../infra/stack-watch.ts';
import type { Settings } from '../workers/settings.ts';
import type { TaskQueue } from '../workflows/names.ts';
import type { Place } from './start-run.ts';
import { startWorkerProcesses } from './worker-processes.ts';

/** The browser has a process of its own: its CPU time must not delay anybody's heartbeats. */
export const usualRoles: readonly (readonly TaskQueue[])[] = [
  ['browser'],
  ['orchestrator', 'llm', 'judge', 'cpu', 'gpu'],
];

export interface Workplace extends Place {
  /** Rejects when a worker cannot be kept alive. */
  readonly failed: Promise<never>;
}

/**
 * Stack, store and workers for a command that does work. All of it ends with `act`, however that ends; a workflow
 * that was not finished goes on when the next command brings workers.
 */
export function withWorkplace<T>(
  settings: Settings,
  report: Report,
  act: (workplace: Workplace) => Promise<T>,
): Promise<T> {
  return withPlace(settings, report, (place, stack) =>
    withWorkers(
      { settings, stack, chromiumPath: place.chromium.executablePath },
      settings.workerRoles ?? usualRoles,
      report,
      (failed) => act({ ...place, failed }),
    ),
  );
}

/** What starting a run needs, without anybody who works on it. */
export async function withPlace<T>(
  settings: Settings,
  report: Report,
  act: (place: Place, stack: Stack) => Promise<T>,
): Promise<T> {
  // Both may have to be fetched.
  const fetched = ensureChromium(settings, report);
  fetched.catch(() => undefined);
  return withStack(settings, report, async (services, stack) =>
    act({ settings, chromium: await fetched, ...services }, stack),
  );
}

/** What a command needs that speaks to runs. */
export interface ControlRoom {
  readonly store: BankStore;
  readonly client: Client;
}

/**
 * Store and client for a command that pauses or cancels runs. Runs answer through their workers, of which there may
 * be none: on the embedded stack the command brings those that answer. On a cluster of the user's they are the
 * user's, because workers of another code version must not meddle.
 */
export function withControlRoom<T>(
  settings: Settings,
  report: Report,
  act: (room: ControlRoom) => Promise<T>,
): Promise<T> {
  return withStack(settings, report, (room, stack) =>
    settings.temporalConnection !== undefined
      ? act(room)
      : withWorkers({ settings, stack, chromiumPath: null }, [['orchestrator', 'cpu']], report, () =>
          act(room),
        ),
  );
}

export async function withStack<T>(
  settings: Settings,
  report: Report,
  act: (room: ControlRoom, stack: Stack) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const stack = await startStack(settings, report);
    closers.push(() => stack.stop());
    const watch = watchStack(settings, stack, report);
    closers.push(() => watch.stop());
    const store = await createBankStore(stack);
    closers.push(() => store.close());
    const connection = await Connection.connect(stack.temporalConnection);
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace: stack.namespace });
    return await Promise.race([act({ store, client }, stack), watch.failed]);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function withWorkers<T>(
  where: Parameters<typeof startWorkerProcesses>[0],
  roles: readonly (readonly TaskQueue[])[],
  report: Report,
  act: (failed: Promise<never>) => Promise<T>,
): Promise<T> {
  report('Starting the workers …');
  const workers = await startWorkerProcesses(where, roles);
  try {
    return await act(workers.failed);
  } finally {
    await workers.stop();
  }
}

import { Client, Connection } from '@temporalio/client';
import { createBankStore } from '../bank-store/index.ts';
import { ensureChromium } from '../infra/chromium.ts';
import type { Report } from '../infra/report.ts';
import { startStack } from '../infra/stack.ts';
import type { Settings } from '../workers/settings.ts';
import type { TaskQueue } from '../workflows/names.ts';
import type { Place } from './start-run.ts';
import { startWorkerProcesses } from './worker-processes.ts';

/** The browser has a process of its own: its CPU time must not delay anybody's heartbeats. */
const usualRoles: readonly (readonly TaskQueue[])[] = [
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
export async function withWorkplace<T>(
  settings: Settings,
  report: Report,
  act: (workplace: Workplace) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const [stack, chromium] = await Promise.all([
      startStack(settings, report),
      ensureChromium(settings, report),
    ]);
    closers.push(() => stack.stop());
    const store = await createBankStore(stack);
    closers.push(() => store.close());
    const roles = settings.workerRoles ?? usualRoles;
    const workers = await startWorkerProcesses(settings, stack, chromium.executablePath, roles);
    closers.push(() => workers.stop());
    const connection = await Connection.connect(stack.temporalConnection);
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace: stack.namespace });
    return await act({ settings, store, client, chromium, failed: workers.failed });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../workers/settings.ts';
import { homePaths } from './home.ts';
import { isAlive, readServerRecord } from './processes.ts';
import type { Report } from './report.ts';
import { reviveStack, type Stack } from './stack.ts';

export interface StackWatch {
  /** Rejects when a server cannot be brought back. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

const EVERY_MS = 500;

/**
 * Starts the embedded servers again whenever one of them dies while a command needs them. They come back at the same
 * address with what they had committed, so their clients only see an outage.
 */
export function watchStack(settings: Settings, stack: Stack, report: Report): StackWatch {
  const ending = new AbortController();
  const watching = watch(settings, stack, report, ending.signal);
  const failed = watching.then(() => new Promise<never>(() => {}));
  // Somebody may never wait for it; a rejection must not end the process by itself.
  failed.catch(() => {});
  return {
    failed,
    stop: async () => {
      ending.abort();
      await watching.catch(() => {});
    },
  };
}

async function watch(settings: Settings, stack: Stack, report: Report, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const dead = deadServers(settings);
    if (dead.length === 0) continue;
    report(`${dead.join(' and ')} ended unexpectedly; starting again …`);
    await reviveStack(settings, stack);
  }
}

function deadServers({ home, temporalConnection, databaseUrl }: Settings): readonly string[] {
  const { temporalRecord, postgresRecord } = homePaths(home);
  return [
    ...(temporalConnection === undefined && !runs(temporalRecord) ? ['The Temporal server'] : []),
    ...(databaseUrl === undefined && !runs(postgresRecord) ? ['PostgreSQL'] : []),
  ];
}

function runs(recordPath: string): boolean {
  const record = readServerRecord(recordPath);
  return record !== undefined && isAlive(record);
}

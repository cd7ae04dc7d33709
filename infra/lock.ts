import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 50;

/**
 * Runs `action` while holding the lock `path`, waiting at most `waitMs` for another process to leave it.
 * The lock is SQLite's file lock, which the kernel drops together with its holder: a killed process
 * leaves nothing to clean up and there is no stale lock to judge.
 */
export async function withLock<T>(path: string, waitMs: number, action: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    const deadline = Date.now() + waitMs;
    while (!tryLock(database)) {
      if (Date.now() > deadline) {
        throw new Error(
          `Another clift process has held ${path} for ${Math.round(waitMs / 1000)} s. Wait for it or end it, then try again.`,
        );
      }
      await sleep(RETRY_MS);
    }
    return await action();
  } finally {
    database.close();
  }
}

const SQLITE_BUSY = 5;

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

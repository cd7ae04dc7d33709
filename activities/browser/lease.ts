import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { identifyProcess, isAlive, type ProcessIdentity, stopProcess } from '../../infra/processes.ts';

/** What a worker leaves on disk about a browser that it started, so that others can clean up after it. */
const leaseSchema = z.object({
  browser: z.object({ pid: z.int().positive(), startedAt: z.string() }),
  worker: z.object({ pid: z.int().positive(), startedAt: z.string() }),
  /** Temporary profile of the browser; null where it could not be told. */
  profile: z.string().nullable(),
});

export type BrowserLease = z.infer<typeof leaseSchema>;

export function describeLease(browserPid: number, profile: string | null): BrowserLease {
  const browser = identifyProcess(browserPid);
  const worker = identifyProcess(process.pid);
  if (!browser || !worker) throw new Error('The browser ended as soon as it had started.');
  return { browser, worker, profile };
}

export function writeLease(directory: string, lease: BrowserLease): void {
  mkdirSync(directory, { recursive: true });
  const path = leasePath(directory, lease.browser);
  writeFileSync(`${path}.new`, JSON.stringify(lease));
  renameSync(`${path}.new`, path);
}

export function removeLease(directory: string, lease: BrowserLease): void {
  rmSync(leasePath(directory, lease.browser), { force: true });
}

function leasePath(directory: string, browser: ProcessIdentity): string {
  return join(directory, `browser-${browser.pid}-${browser.startedAt.replace(/\W+/g, '_')}.json`);
}

/**
 * Ends the browsers whose worker is gone and removes their profiles. A process counts as ours only when its start
 * time is the one on the lease: the system may have given the number to a stranger since. Returns how many ended.
 */
export async function reapOrphans(directory: string): Promise<number> {
  let ended = 0;
  for (const path of leaseFiles(directory)) {
    const lease = readLease(path);
    if (lease !== null && isAlive(lease.worker)) continue;
    if (lease !== null) {
      if (isAlive(lease.browser)) ended += 1;
      await endBrowser(lease);
    }
    rmSync(path, { force: true });
  }
  return ended;
}

/** Kills the process before its profile goes, so that nothing writes into what is being deleted. */
export async function endBrowser(lease: BrowserLease): Promise<void> {
  await stopProcess(lease.browser, 'SIGKILL', 5_000);
  if (lease.profile !== null && isTemporaryProfile(lease.profile)) {
    rmSync(lease.profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

function leaseFiles(directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  return readdirSync(directory)
    .filter((name) => name.startsWith('browser-') && name.endsWith('.json'))
    .map((name) => join(directory, name));
}

/** Null for a file that a crash left half-written: it names nobody that could be ended. */
function readLease(path: string): BrowserLease | null {
  try {
    return leaseSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Only what Playwright made for us may be deleted, whatever a lease says. */
function isTemporaryProfile(path: string): boolean {
  return dirname(resolve(path)) === tmpdir() && basename(path).startsWith('playwright_chromiumdev_profile-');
}

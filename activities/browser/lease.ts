import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** A process of ours. The start time tells it from a stranger that was given the same pid later. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** What the pool needs to know of and do to processes. */
export interface Processes {
  identifyProcess(pid: number): ProcessIdentity | undefined;
  isAlive(identity: ProcessIdentity): boolean;
  /** `signal` first, SIGKILL after `graceMs`; returns once the process is gone. */
  stopProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void>;
}

/** What a worker leaves on disk about a browser that it started, so that others can clean up after it. */
const leaseSchema = z.object({
  browser: z.object({ pid: z.int().positive(), startedAt: z.string() }),
  worker: z.object({ pid: z.int().positive(), startedAt: z.string() }),
  /** Temporary profile of the browser; null where it could not be told. */
  profile: z.string().nullable(),
});

export type BrowserLease = z.infer<typeof leaseSchema>;

/** The leases of one machine's workers, a file for each browser. */
export class Leases {
  readonly #directory: string;
  readonly #processes: Processes;

  constructor(directory: string, processes: Processes) {
    this.#directory = directory;
    this.#processes = processes;
    mkdirSync(directory, { recursive: true });
  }

  /** Throws when the browser has ended already. */
  write(browserPid: number, profile: string | null): BrowserLease {
    const browser = this.#processes.identifyProcess(browserPid);
    const worker = this.#processes.identifyProcess(process.pid);
    if (!browser || !worker) throw new Error('The browser ended as soon as it had started.');
    const lease = { browser, worker, profile };
    const path = this.#pathOf(lease);
    writeFileSync(`${path}.new`, JSON.stringify(lease));
    renameSync(`${path}.new`, path);
    return lease;
  }

  remove(lease: BrowserLease): void {
    rmSync(this.#pathOf(lease), { force: true });
  }

  #pathOf({ browser }: BrowserLease): string {
    return join(this.#directory, `browser-${browser.pid}-${browser.startedAt.replace(/\W+/g, '_')}.json`);
  }

  /**
   * Ends the browsers whose worker is gone and removes their profiles. A process counts as ours only when its start
   * time is the one on the lease. Returns how many ended.
   */
  async reapOrphans(): Promise<number> {
    let ended = 0;
    for (const path of this.#files()) {
      const lease = readLease(path);
      if (lease !== null && this.#processes.isAlive(lease.worker)) continue;
      if (lease !== null) {
        if (this.#processes.isAlive(lease.browser)) ended += 1;
        await this.endBrowser(lease);
      }
      rmSync(path, { force: true });
    }
    return ended;
  }

  /** Kills the process before its profile goes, so that nothing writes into what is being deleted. */
  async endBrowser({ browser, profile }: BrowserLease): Promise<void> {
    await this.#processes.stopProcess(browser, 'SIGKILL', 5_000);
    if (profile !== null && isTemporaryProfile(profile)) {
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  #files(): string[] {
    return readdirSync(this.#directory)
      .filter((name) => name.startsWith('browser-') && name.endsWith('.json'))
      .map((name) => join(this.#directory, name));
  }
}

/** Null for a file that cannot be read: it names nobody that could be ended. */
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

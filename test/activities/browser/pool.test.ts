import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BrowserLease, Leases } from '../../../activities/browser/lease.ts';
import * as processes from '../../../infra/processes.ts';
import { createTestPool, type TestPool } from './support.ts';

const opened: TestPool[] = [];
const endings: (() => void)[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
  for (const end of endings.splice(0)) end();
});

async function pool(retireAfter?: number): Promise<TestPool> {
  const created = await createTestPool(retireAfter);
  opened.push(created);
  return created;
}

const leasesIn = (directory: string): BrowserLease[] =>
  readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')));

/** A process that does nothing, and would go on for a minute. */
function startSleeper(): processes.ProcessIdentity {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  endings.push(() => child.kill('SIGKILL'));
  const identity = processes.identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error('The sleeper did not start.');
  return identity;
}

describe('the pool', () => {
  it('shares one browser, and leaves a lease that names it and its profile', async () => {
    const { pool: browsers, leaseDirectory } = await pool();
    const [first, second] = await Promise.all([browsers.use(), browsers.use()]);
    expect(first.browser).toBe(second.browser);
    const [lease, ...others] = leasesIn(leaseDirectory);
    if (lease === undefined) throw new Error('There is no lease.');
    expect(others).toEqual([]);
    expect(processes.isAlive(lease.browser)).toBe(true);
    expect(lease.worker).toEqual(processes.identifyProcess(process.pid));
    expect(existsSync(lease.profile ?? '')).toBe(true);
    await browsers.close();
    expect(processes.isAlive(lease.browser)).toBe(false);
    expect(existsSync(lease.profile ?? '')).toBe(false);
    expect(leasesIn(leaseDirectory)).toEqual([]);
  });

  it('a browser is retired after its rollouts, and ends when the last of them does', async () => {
    const { pool: browsers, leaseDirectory } = await pool(2);
    const first = await browsers.use();
    const second = await browsers.use();
    const third = await browsers.use();
    expect(second.browser).toBe(first.browser);
    expect(third.browser).not.toBe(first.browser);
    await first.release('sound');
    expect(second.browser.isConnected()).toBe(true);
    await second.release('sound');
    expect(first.browser.isConnected()).toBe(false);
    expect(third.browser.isConnected()).toBe(true);
    expect(leasesIn(leaseDirectory)).toHaveLength(1);
  });

  it('after a crash the next rollout gets a new browser', async () => {
    const { pool: browsers, leaseDirectory } = await pool();
    const first = await browsers.use();
    const [lease] = leasesIn(leaseDirectory);
    const gone = new Promise((resolve) => first.browser.once('disconnected', resolve));
    process.kill(lease?.browser.pid ?? 0, 'SIGKILL');
    await gone;
    await first.release('broken');
    const second = await browsers.use();
    expect(second.browser.isConnected()).toBe(true);
    expect(leasesIn(leaseDirectory)).toHaveLength(1);
  });

  it('a broken browser is killed, though it would not close by itself', async () => {
    const { pool: browsers, leaseDirectory } = await pool();
    const use = await browsers.use();
    const [lease] = leasesIn(leaseDirectory);
    if (lease === undefined) throw new Error('There is no lease.');
    process.kill(lease.browser.pid, 'SIGSTOP');
    await use.release('broken');
    expect(processes.isAlive(lease.browser)).toBe(false);
    expect((await browsers.use()).browser).not.toBe(use.browser);
  });

  it('a missing browser is weather that says what to run', async () => {
    const { BrowserPool } = await import('../../../activities/browser/pool.ts');
    const leaseDirectory = mkdtempSync(join(tmpdir(), 'clift-leases-'));
    endings.push(() => rmSync(leaseDirectory, { recursive: true }));
    const missing = new BrowserPool({ executablePath: '/nowhere/chromium', leaseDirectory, processes });
    await expect(missing.use()).rejects.toMatchObject({
      type: 'BrowserCrashed',
      message: expect.stringContaining('clift doctor'),
    });
  });
});

describe('the reaper', () => {
  /** Writes a lease and tells whether reaping ended its browser. */
  async function reap(lease: Omit<BrowserLease, 'profile'>, profile: string | null) {
    const directory = mkdtempSync(join(tmpdir(), 'clift-leases-'));
    endings.push(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'browser-1.json'), JSON.stringify({ ...lease, profile }));
    const ended = await new Leases(directory, processes).reapOrphans();
    return { ended, left: readdirSync(directory).length, alive: processes.isAlive(lease.browser) };
  }

  const deadWorker = { pid: 2 ** 22 + 7, startedAt: '1' };

  it('ends the browser of a dead worker and deletes its profile', async () => {
    const profile = mkdtempSync(join(tmpdir(), 'playwright_chromiumdev_profile-'));
    const browser = startSleeper();
    expect(await reap({ browser, worker: deadWorker }, profile)).toEqual({ ended: 1, left: 0, alive: false });
    expect(existsSync(profile)).toBe(false);
  });

  it('leaves the browser of a living worker alone', async () => {
    const worker = processes.identifyProcess(process.pid) ?? deadWorker;
    expect(await reap({ browser: startSleeper(), worker }, null)).toEqual({ ended: 0, left: 1, alive: true });
  });

  it('leaves a stranger alone that was given the number of a dead browser', async () => {
    const stranger = startSleeper();
    const browser = { pid: stranger.pid, startedAt: '1' };
    expect(await reap({ browser, worker: deadWorker }, null)).toMatchObject({ ended: 0, left: 0 });
    expect(processes.isAlive(stranger)).toBe(true);
  });

  it('deletes no folder but a temporary profile, whatever a lease says', async () => {
    const precious = mkdtempSync(join(tmpdir(), 'clift-precious-'));
    mkdirSync(join(precious, 'playwright_chromiumdev_profile-x'));
    endings.push(() => rmSync(precious, { recursive: true }));
    for (const profile of [precious, join(precious, 'playwright_chromiumdev_profile-x')]) {
      await reap({ browser: { pid: deadWorker.pid, startedAt: '2' }, worker: deadWorker }, profile);
      expect(existsSync(profile)).toBe(true);
    }
  });

  it('ignores what a crash left half-written', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'clift-leases-'));
    endings.push(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'browser-9.json'), '{"browser":');
    expect(await new Leases(directory, processes).reapOrphans()).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });
});

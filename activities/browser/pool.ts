import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { weather } from '../failures.ts';
import { within } from './deadline.ts';
import { type BrowserLease, Leases, type Processes } from './lease.ts';

export interface BrowserPoolOptions {
  /** Chromium or, better, its headless shell. */
  readonly executablePath: string;
  /** Where the leases of this machine's workers lie. */
  readonly leaseDirectory: string;
  readonly processes: Processes;
  /** Rollouts after which a browser is replaced: what leaks in it never grows old. */
  readonly retireAfter?: number;
}

/** The use of a browser for one rollout. */
export interface BrowserUse {
  readonly browser: Browser;
  /** `broken`: something in it no longer answers, so nobody else should get it. */
  release(state: 'sound' | 'broken'): Promise<void>;
}

interface Running {
  readonly browser: Browser;
  readonly lease: BrowserLease;
  rollouts: number;
  inUse: number;
  retired: boolean;
}

const LAUNCH_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 5_000;

/**
 * One warm browser per worker process, replaced after a number of rollouts and after a crash. Rollouts share the
 * process and nothing else: each has a browser context of its own.
 */
export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #leases: Leases;
  readonly #running = new Set<Running>();
  #current: Promise<Running> | null = null;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#leases = new Leases(options.leaseDirectory, options.processes);
  }

  /** Ends what dead workers left behind; to be called once before the first use. */
  async start(): Promise<void> {
    await this.#leases.reapOrphans();
  }

  /** Throws weather `BrowserCrashed` when no browser can be started. */
  async use(): Promise<BrowserUse> {
    this.#current ??= this.#launch();
    const running = await this.#current;
    running.rollouts += 1;
    running.inUse += 1;
    if (running.rollouts >= (this.#options.retireAfter ?? 100)) this.#retire(running);
    let released = false;
    const release = async (state: 'sound' | 'broken') => {
      if (released) return;
      released = true;
      running.inUse -= 1;
      if (state === 'broken') await this.#kill(running);
      else if (running.retired && running.inUse === 0) await this.#close(running);
    };
    return { browser: running.browser, release };
  }

  /** Version of the browser, part of a run's identity. */
  async version(): Promise<string> {
    this.#current ??= this.#launch();
    return (await this.#current).browser.version();
  }

  async close(): Promise<void> {
    await this.#current?.catch(() => null);
    this.#current = null;
    await Promise.all([...this.#running].map((running) => this.#close(running)));
  }

  #launch(): Promise<Running> {
    const launched = this.#startBrowser();
    launched.catch(() => {
      if (this.#current === launched) this.#current = null;
    });
    return launched;
  }

  async #startBrowser(): Promise<Running> {
    const browser = await launchChromium(this.#options.executablePath);
    try {
      const pid = await browserPid(browser);
      const lease = this.#leases.write(pid, profileOf(pid));
      const running: Running = { browser, lease, rollouts: 0, inUse: 0, retired: false };
      this.#running.add(running);
      browser.on('disconnected', () => this.#forget(running));
      return running;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** No new rollouts for it; those that run finish in it. */
  #retire(running: Running): void {
    running.retired = true;
    this.#current = null;
  }

  async #close(running: Running): Promise<void> {
    try {
      await within(running.browser.close(), CLOSE_LIMIT_MS, 'Closing the browser');
    } catch {
      await this.#kill(running);
    }
    this.#forget(running);
  }

  async #kill(running: Running): Promise<void> {
    await this.#leases.endBrowser(running.lease);
    this.#forget(running);
  }

  #forget(running: Running): void {
    if (!this.#running.delete(running)) return;
    if (!running.retired) this.#current = null;
    running.retired = true;
    this.#leases.remove(running.lease);
  }
}

async function launchChromium(executablePath: string): Promise<Browser> {
  try {
    return await chromium.launch({
      executablePath,
      headless: true,
      // Chromium's own sandbox refuses to run as root.
      chromiumSandbox: process.getuid?.() !== 0,
      // The worker closes its browsers itself, after the rollouts have been told.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: LAUNCH_LIMIT_MS,
      args: [
        '--disable-gpu',
        // Ways past the proxy: name look-ups ahead of time, QUIC, and peer connections over UDP.
        '--dns-prefetch-disable',
        '--disable-quic',
        '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
        '--no-pings',
        '--disable-domain-reliability',
        // The same text looks the same on every machine.
        '--font-render-hinting=none',
        '--disable-lcd-text',
      ],
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw weather(
      'BrowserCrashed',
      `Chromium at ${executablePath} did not start: ${reason} Run \`clift doctor\` to see what is missing.`,
      error,
    );
  }
}

async function browserPid(browser: Browser): Promise<number> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  await cdp.detach();
  const main = processInfo.find(({ type }) => type === 'browser');
  if (main === undefined) throw new Error('The browser did not tell its process.');
  return main.id;
}

function profileOf(pid: number): string | null {
  const words =
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).split(/\s+(?=--)/);
  const flag = '--user-data-dir=';
  return words.find((word) => word.startsWith(flag))?.slice(flag.length) ?? null;
}

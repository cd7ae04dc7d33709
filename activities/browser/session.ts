import type { BrowserContext, Page } from 'playwright-core';
import type { Action, ActionResult, Environment, Observation, Task } from '../../benchmarks/contract.ts';
import { weather } from '../failures.ts';
import { performAction, type Reach } from './act.ts';
import { TimedOut, within } from './deadline.ts';
import { OpeningWindows } from './navigation.ts';
import { observe } from './observe.ts';
import { DocumentReplaced, PageScriptError } from './page-world.ts';
import type { BrowserPool, BrowserUse } from './pool.ts';
import { type SettleRule, settle, settleRule } from './settle.ts';
import { openTab, type Tab } from './tab.ts';

/** A browser on one task: what rollouts, demonstrations, the doctor and tests act through. */
export interface BrowserSession {
  /** The page as it stands, settled. Refs hold until the next observation. */
  observe(): Promise<Observation>;
  /** Carries an action out and waits until the page has settled. */
  act(action: Action): Promise<ActionResult>;
  /** Of the last action, in ms. */
  timings(): { readonly actMs: number; readonly settleMs: number };
  /** JPEG of the viewport. */
  screenshot(): Promise<Uint8Array>;
  url(): string;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly pool: BrowserPool;
  readonly environment: Pick<Environment, 'proxyServer' | 'pendingExpression'>;
  readonly task: Pick<Task, 'startUrl' | 'allowedHosts' | 'viewport'>;
  /** Frozen clock of the pages (ISO 8601), null for the real one. */
  readonly clock: string | null;
  /** Ends the session: whatever is under way rejects with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Limits. On an app that tells when it is done nothing may depend on how busy the machine is: there a limit is far
 * off, and reaching it is weather. On any other page a slow answer is a result.
 */
const LIMITS = {
  patient: { actMs: 10_000, readMs: 20_000, loadMs: 20_000 },
  brisk: { actMs: 3_000, readMs: 6_000, loadMs: 10_000 },
} as const;
const CLOSE_LIMIT_MS = 5_000;
const TAB_LIMIT = 10;

/**
 * Opens the task's start page in a browser context of its own. Throws weather: `BrowserCrashed` when the browser
 * fails or the page stops answering, `NetworkDown` when the start page cannot be loaded.
 */
export async function openBrowserSession(options: SessionOptions): Promise<BrowserSession> {
  options.signal.throwIfAborted();
  const use = await options.pool.use();
  try {
    const context = await within(newContext(use, options), CLOSE_LIMIT_MS * 2, 'Opening a browser context');
    const session = new Session(options, use, context);
    try {
      await session.start();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  } catch (error) {
    await use.release(use.browser.isConnected() && !(error instanceof TimedOut) ? 'sound' : 'broken');
    throw error instanceof TimedOut ? weather('BrowserCrashed', error.message, error) : error;
  }
}

async function newContext(
  use: BrowserUse,
  { environment, task, clock }: SessionOptions,
): Promise<BrowserContext> {
  const context = await use.browser.newContext({
    ...(environment.proxyServer !== null && { proxy: { server: environment.proxyServer } }),
    viewport: { width: task.viewport.widthPx, height: task.viewport.heightPx },
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    acceptDownloads: false,
    serviceWorkers: 'block',
  });
  if (clock !== null) await context.clock.setFixedTime(clock);
  return context;
}

class Session implements BrowserSession {
  readonly #options: SessionOptions;
  readonly #use: BrowserUse;
  readonly #context: BrowserContext;
  readonly #rule: SettleRule;
  readonly #limits: (typeof LIMITS)[keyof typeof LIMITS];
  readonly #failed = Promise.withResolvers<never>();
  readonly #abort = () => this.#failed.reject(this.#options.signal.reason);
  readonly #windows = new OpeningWindows();
  #tabs: Tab[] = [];
  /** Tabs, and pages that are becoming one. */
  #pages = 0;
  #active: Tab | null = null;
  /** What the page's own dialogs said during the last action. */
  #dialogs: string[] = [];
  #timings = { actMs: 0, settleMs: 0 };

  constructor(options: SessionOptions, use: BrowserUse, context: BrowserContext) {
    this.#options = options;
    this.#use = use;
    this.#context = context;
    this.#rule = settleRule(options.environment.pendingExpression);
    this.#limits = this.#rule.by === 'expression' ? LIMITS.patient : LIMITS.brisk;
    // Nobody may be waiting when the browser fails between two calls.
    this.#failed.promise.catch(() => undefined);
    options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  // ---- life --------------------------------------------------------------------------------------------------

  async start(): Promise<void> {
    this.#use.browser.once('disconnected', () => this.#fail('The browser ended.'));
    this.#context.once('close', () => this.#fail('The browser context was closed.'));
    await this.#guard(this.#open(), this.#limits.loadMs + this.#rule.limitMs, 'Opening the start page');
  }

  async #open(): Promise<void> {
    const page = await this.#context.newPage();
    await this.#adopt(page);
    this.#context.on('page', (opened) => this.#adoptPopup(opened));
    const { startUrl } = this.#options.task;
    try {
      await page.goto(startUrl, { waitUntil: 'commit', timeout: this.#limits.loadMs });
    } catch (error) {
      if (!(error instanceof Error) || !/net::ERR_|Timeout/.test(error.message)) throw error;
      throw weather('NetworkDown', `The start page ${startUrl} could not be loaded: ${error.message}`, error);
    }
    await this.#settle();
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#abort);
    try {
      await within(this.#context.close(), CLOSE_LIMIT_MS, 'Closing the browser context');
      await this.#use.release('sound');
    } catch {
      await this.#use.release('broken');
    }
  }

  #fail(message: string): void {
    this.#failed.reject(weather('BrowserCrashed', message));
  }

  /** Ends with the session's failure, a limit or the work itself, whichever comes first. */
  async #guard<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
    try {
      return await within(Promise.race([work, this.#failed.promise]), limitMs, what);
    } catch (error) {
      work.catch(() => undefined);
      this.#options.signal.throwIfAborted();
      throw error;
    }
  }

  // ---- tabs --------------------------------------------------------------------------------------------------

  async #adopt(page: Page): Promise<void> {
    this.#pages += 1;
    page.on('dialog', async (dialog) => {
      if (this.#dialogs.length < 5) this.#dialogs.push(dialog.message().slice(0, 200));
      // Leaving a page is the policy's decision; every other question is answered with no.
      await (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
    });
    page.on('crash', () => this.#fail('The page crashed.'));
    const tab = await openTab(page, this.#windows);
    page.on('close', () => this.#drop(tab));
    this.#tabs.push(tab);
    this.#active = tab;
  }

  /** A window that a page opened becomes the active tab, as it does for a person. */
  async #adoptPopup(page: Page): Promise<void> {
    try {
      if (this.#pages >= TAB_LIMIT) await page.close();
      else await this.#adopt(page);
    } catch (error) {
      if (!page.isClosed()) this.#failed.reject(asWeather(error));
    } finally {
      this.#windows.appeared();
    }
  }

  #drop(tab: Tab): void {
    this.#pages -= 1;
    this.#tabs = this.#tabs.filter((other) => other !== tab);
    if (this.#active === tab) this.#active = this.#tabs.at(-1) ?? null;
    if (this.#active === null) this.#fail('The page closed its last window.');
  }

  #tab(): Tab {
    if (this.#active === null) throw weather('BrowserCrashed', 'There is no open page.');
    return this.#active;
  }

  async #switchTab(index: number): Promise<ActionResult> {
    const tab = this.#tabs[index];
    if (tab === undefined) {
      return {
        ok: false,
        code: 'invalid',
        message: `There is no tab ${index}: there are ${this.#tabs.length}, from 0.`,
      };
    }
    await tab.page.bringToFront();
    this.#active = tab;
    return { ok: true, note: null };
  }

  // ---- the cycle ---------------------------------------------------------------------------------------------

  async observe(): Promise<Observation> {
    const look = () => this.#guard(observe(this.#tabs, this.#tab()), this.#limits.readMs, 'Reading the page');
    return this.#weathered(async () => {
      for (let tries = 0; ; tries += 1) {
        try {
          return await look();
        } catch (error) {
          if (!(error instanceof DocumentReplaced) || tries === 3) throw error;
          await this.#settle();
        }
      }
    });
  }

  async act(action: Action): Promise<ActionResult> {
    this.#dialogs = [];
    const start = performance.now();
    const result = await this.#weathered(() => this.#perform(action));
    const acted = performance.now();
    // A page that does not answer will not say when it is done either.
    if (result.ok || result.code !== 'timeout') await this.#weathered(() => this.#settle());
    this.#timings = { actMs: acted - start, settleMs: performance.now() - acted };
    return this.#withDialogs(result);
  }

  timings(): { readonly actMs: number; readonly settleMs: number } {
    return this.#timings;
  }

  async #perform(action: Action): Promise<ActionResult> {
    const tab = this.#tab();
    const loads = action.tool === 'navigate' || action.tool === 'back';
    const limitMs = loads ? this.#limits.loadMs : this.#limits.actMs;
    const reach: Reach = {
      allowedHosts: this.#options.task.allowedHosts,
      navigationLimitMs: this.#limits.loadMs,
      switchTab: (index) => this.#switchTab(index),
    };
    try {
      return await this.#guard(performAction(tab, action, reach), limitMs, `The action ${action.tool}`);
    } catch (error) {
      if (error instanceof DocumentReplaced) {
        return { ok: false, code: 'stale', message: 'The page changed to another one while this was done.' };
      }
      if (this.#limits === LIMITS.brisk && isTimeout(error)) {
        return { ok: false, code: 'timeout', message: `The page did not answer within ${limitMs} ms.` };
      }
      throw error;
    }
  }

  /** Settles the active tab, and the tab that took its place meanwhile. */
  async #settle(): Promise<void> {
    for (let settled: Tab | null = null; settled !== this.#active; ) {
      const tab = this.#tab();
      const limitMs = this.#rule.limitMs + 2_000;
      const calm = await this.#guard(
        settle(tab, this.#rule, () => tab === this.#active),
        limitMs,
        'Waiting for the page to settle',
      );
      if (!calm && this.#rule.by === 'expression') {
        throw weather('BrowserCrashed', `${tab.page.url()} did not settle within ${this.#rule.limitMs} ms.`);
      }
      settled = tab;
    }
    this.#windows.forget();
  }

  #withDialogs(result: ActionResult): ActionResult {
    if (this.#dialogs.length === 0 || !result.ok) return result;
    const said = this.#dialogs.map((message) => `"${message}"`).join(', ');
    return {
      ok: true,
      note: [result.note, `A dialog said ${said} and was dismissed.`].filter(Boolean).join(' '),
    };
  }

  async screenshot(): Promise<Uint8Array> {
    return this.#weathered(async () => {
      const capture = this.#tab().cdp.send('Page.captureScreenshot', { format: 'jpeg', quality: 70 });
      const { data } = await this.#guard(capture, this.#limits.readMs, 'Taking a screenshot');
      return Buffer.from(data, 'base64');
    });
  }

  url(): string {
    return this.#tab().page.url();
  }

  async #weathered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw asWeather(error);
    }
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof TimedOut || (error instanceof Error && error.name === 'TimeoutError');
}

/** What the browser throws passes with the browser; what we throw ourselves keeps its meaning. */
function asWeather(error: unknown): unknown {
  const isOurs = error instanceof PageScriptError || !(error instanceof Error);
  if (isOurs || error.name === 'ApplicationFailure' || error.name === 'ZodError') return error;
  return weather('BrowserCrashed', error.message, error);
}

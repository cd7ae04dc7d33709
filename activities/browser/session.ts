import type { BrowserContext } from 'playwright-core';
import { z } from 'zod';
import type { Action, ActionResult, Environment, Observation, Task } from '../../benchmarks/contract.ts';
import { weather } from '../failures.ts';
import { performAction, type Reach } from './act.ts';
import { TimedOut, within } from './deadline.ts';
import { drawMarks, markSchema } from './marks.ts';
import { observe } from './observe.ts';
import { DocumentReplaced, PageScriptError } from './page-world.ts';
import type { BrowserPool, BrowserUse } from './pool.ts';
import { afterTyping, giveUpLoading, type SettleRule, settle, settleRule } from './settle.ts';
import { hasClosed, type Tab } from './tab.ts';
import { Tabs } from './tabs.ts';

/** A browser on one task: what rollouts, demonstrations, the doctor and tests act through. */
export interface BrowserSession {
  /** The page as it stands, settled. Refs hold until the next observation. */
  observe(): Promise<Observation>;
  /** Carries an action out and waits until the page has settled. */
  act(action: Action): Promise<ActionResult>;
  /** Of the last action, in ms. */
  timings(): { readonly actMs: number; readonly settleMs: number };
  /** JPEG of the viewport; with `marks`, a box and its ref around each element of the last observation. */
  screenshot(options?: { readonly marks: boolean }): Promise<Uint8Array>;
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
  brisk: { actMs: 3_000, readMs: 10_000, loadMs: 10_000 },
} as const;
const CLOSE_LIMIT_MS = 5_000;

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

/** A context as every rollout gets it: its own proxy, the benchmark's clock, UTC, American English. */
export async function newContext(
  { browser }: Pick<BrowserUse, 'browser'>,
  { environment, task, clock }: Pick<SessionOptions, 'environment' | 'task' | 'clock'>,
): Promise<BrowserContext> {
  const context = await browser.newContext({
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
  readonly #disconnected = () => this.#fail(weather('BrowserCrashed', 'The browser ended.'));
  readonly #tabs: Tabs;
  #timings = { actMs: 0, settleMs: 0 };

  constructor(options: SessionOptions, use: BrowserUse, context: BrowserContext) {
    this.#options = options;
    this.#use = use;
    this.#context = context;
    const { pendingExpression, proxyServer } = options.environment;
    this.#rule = settleRule(pendingExpression, proxyServer !== null);
    this.#limits = this.#rule.by === 'expression' ? LIMITS.patient : LIMITS.brisk;
    this.#tabs = new Tabs(
      { countRequests: this.#rule.by === 'quiet', isProxied: proxyServer !== null },
      (error) => this.#fail(error),
    );
    // Nobody may be waiting when the browser fails between two calls.
    this.#failed.promise.catch(() => undefined);
    options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  // ---- life --------------------------------------------------------------------------------------------------

  async start(): Promise<void> {
    this.#use.browser.once('disconnected', this.#disconnected);
    const limitMs = this.#limits.loadMs + this.#rule.limitMs;
    await this.#weathered(() => this.#guard(this.#open(), limitMs, 'Opening the start page'));
  }

  async #open(): Promise<void> {
    const page = await this.#context.newPage();
    await this.#tabs.adopt(page);
    this.#context.on('page', (opened) => this.#tabs.adoptPopup(opened));
    const { startUrl } = this.#options.task;
    try {
      await page.goto(startUrl, { waitUntil: 'commit', timeout: this.#limits.loadMs });
    } catch (error) {
      if (!(error instanceof Error) || !/net::ERR_|Timeout|Download is starting/.test(error.message))
        throw error;
      throw weather('NetworkDown', `The start page ${startUrl} could not be loaded: ${error.message}`, error);
    }
    await this.#settle();
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#abort);
    this.#use.browser.off('disconnected', this.#disconnected);
    try {
      await within(this.#context.close(), CLOSE_LIMIT_MS, 'Closing the browser context');
      await this.#use.release('sound');
    } catch {
      await this.#use.release('broken');
    }
  }

  #fail(error: unknown): void {
    this.#failed.reject(asWeather(error));
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

  // ---- the cycle ---------------------------------------------------------------------------------------------

  observe(): Promise<Observation> {
    return this.#look(() => observe(this.#tabs.all, this.#tabs.active), 'Reading the page');
  }

  /** Looks again where the page was replaced, or its tab closed, meanwhile. */
  #look<T>(look: () => Promise<T>, what: string): Promise<T> {
    return this.#weathered(async () => {
      for (let tries = 0; ; tries += 1) {
        const tab = this.#tabs.active;
        try {
          return await this.#guard(look(), this.#limits.readMs, what);
        } catch (error) {
          const isGone = error instanceof DocumentReplaced || (await hasClosed(tab, error));
          if (!isGone || tries === 3) throw error;
          await this.#settle();
        }
      }
    });
  }

  async act(action: Action): Promise<ActionResult> {
    this.#tabs.takeDialogs();
    const start = performance.now();
    const result = await this.#weathered(() => this.#perform(action));
    const acted = performance.now();
    // A page that does not answer will not say when it is done either.
    const rule = action.tool === 'type' || action.tool === 'press' ? afterTyping(this.#rule) : this.#rule;
    if (result.ok || result.code !== 'timeout') await this.#weathered(() => this.#settle(rule));
    this.#timings = { actMs: acted - start, settleMs: performance.now() - acted };
    return asStored(this.#withDialogs(result));
  }

  timings(): { readonly actMs: number; readonly settleMs: number } {
    return this.#timings;
  }

  async #perform(action: Action): Promise<ActionResult> {
    const tab = this.#tabs.active;
    const loads = action.tool === 'navigate' || action.tool === 'back';
    const limitMs = loads ? this.#limits.loadMs : this.#limits.actMs;
    const reach: Reach = {
      allowedHosts: this.#options.task.allowedHosts,
      navigationLimitMs: this.#limits.loadMs,
      switchTab: (index) => this.#tabs.switchTo(index),
    };
    try {
      return await this.#guard(performAction(tab, action, reach), limitMs, `The action ${action.tool}`);
    } catch (error) {
      if (await hasClosed(tab, error)) return { ok: true, note: 'The tab closed.' };
      if (error instanceof DocumentReplaced) {
        return { ok: false, code: 'stale', message: 'The page changed to another one while this was done.' };
      }
      if (this.#limits === LIMITS.brisk && isTimeout(error)) {
        if (loads) await giveUpLoading(tab);
        return { ok: false, code: 'timeout', message: `The page did not answer within ${limitMs} ms.` };
      }
      throw error;
    }
  }

  /** Settles the active tab, and the tab that took its place meanwhile. */
  async #settle(rule = this.#rule): Promise<void> {
    for (let settled: Tab | null = null; settled !== this.#tabs.active; ) {
      const tab: Tab = this.#tabs.active;
      const limitMs = this.#rule.limitMs + 4_000;
      const calm = await this.#guard(
        settle(tab, rule, () => tab === this.#tabs.active),
        limitMs,
        'Waiting for the page to settle',
      );
      if (!calm && this.#rule.by === 'expression') {
        throw weather('BrowserCrashed', `${tab.page.url()} did not settle within ${this.#rule.limitMs} ms.`);
      }
      settled = tab;
    }
    this.#tabs.forgetWindows();
  }

  #withDialogs(result: ActionResult): ActionResult {
    const said = this.#tabs.takeDialogs().map((message) => `"${message}"`);
    if (said.length === 0 || !result.ok) return result;
    const note = `A dialog said ${said.join(', ')} and was dismissed.`;
    return { ok: true, note: result.note === null ? note : `${result.note} ${note}` };
  }

  screenshot({ marks } = { marks: false }): Promise<Uint8Array> {
    return this.#look(() => (marks ? this.#marked() : this.#capture()), 'Taking a screenshot');
  }

  async #capture(): Promise<Uint8Array> {
    const { cdp } = this.#tabs.active;
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'jpeg', quality: 70 });
    return Buffer.from(data, 'base64');
  }

  async #marked(): Promise<Uint8Array> {
    const marks = z.array(markSchema).parse(await this.#tabs.active.world.call('marks'));
    return drawMarks(this.#use.browser, await this.#capture(), marks);
  }

  url(): string {
    return this.#tabs.active.page.url();
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

/** As it is read back: a text that was cut in a character, or holds NUL, would differ when the action is taken again. */
function asStored(result: ActionResult): ActionResult {
  const mended = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');
  if (!result.ok) return { ...result, message: mended(result.message) };
  return { ...result, note: result.note === null ? null : mended(result.note) };
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

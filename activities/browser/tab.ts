import type { CDPSession, Page, Request } from 'playwright-core';
import { within } from './deadline.ts';
import { Navigation, type OpeningWindows } from './navigation.ts';
import { PageWorld } from './page-world.ts';

/** How long a page may take to answer the harness at all. */
const ANSWER_LIMIT_MS = 10_000;

/** One page of the browser with what the harness holds of it. */
export interface Tab {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly world: PageWorld;
  readonly navigation: Navigation;
  /** Shared by the tabs of a session. */
  readonly windows: OpeningWindows;
  /** Null where the page counts by itself what it waits for: following every request has its price. */
  readonly requests: OpenRequests | null;
}

export interface TabOptions {
  readonly windows: OpeningWindows;
  readonly countRequests: boolean;
}

export async function openTab(page: Page, { windows, countRequests }: TabOptions): Promise<Tab> {
  const requests = countRequests ? new OpenRequests(page) : null;
  const cdp = await page.context().newCDPSession(page);
  const navigation = await within(Navigation.watch(cdp, windows), ANSWER_LIMIT_MS, 'Opening a tab');
  return { page, cdp, world: new PageWorld(cdp), navigation, windows, requests };
}

/** How long after its channel a page may take to tell that it has closed. */
const CLOSING_LIMIT_MS = 1_000;

/** Whether an error of a tab came from its closing: windows may be closed by the page, at any time. */
export async function hasClosed({ page }: Tab, error: unknown): Promise<boolean> {
  if (page.isClosed()) return true;
  if (!(error instanceof Error) || !error.message.includes('has been closed')) return false;
  await page.waitForEvent('close', { timeout: CLOSING_LIMIT_MS }).catch(() => undefined);
  return page.isClosed();
}

/**
 * Data requests of the page's scripts that are under way. What a page sends is over once it is answered: of an answer
 * that nobody reads the browser never says that it has ended.
 */
export class OpenRequests {
  readonly #unanswered = new Set<Request>();
  /** Answered, and still to be read. */
  readonly #loading = new Set<Request>();

  constructor(page: Page) {
    page.on('request', (request) => {
      if (['xhr', 'fetch'].includes(request.resourceType())) this.#unanswered.add(request);
    });
    page.on('response', (response) => {
      const request = response.request();
      if (this.#unanswered.delete(request) && request.method() === 'GET') this.#loading.add(request);
    });
    const end = (request: Request) => {
      this.#unanswered.delete(request);
      this.#loading.delete(request);
    };
    page.on('requestfinished', end);
    page.on('requestfailed', end);
  }

  get any(): boolean {
    return this.#unanswered.size + this.#loading.size > 0;
  }

  get areUnanswered(): boolean {
    return this.#unanswered.size > 0;
  }
}

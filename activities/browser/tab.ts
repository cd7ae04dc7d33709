import type { CDPSession, Page } from 'playwright-core';
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

/** Data requests of the page's scripts that are not answered yet. */
export class OpenRequests {
  #open = 0;

  constructor(page: Page) {
    const count = (change: number) => (request: { resourceType(): string }) => {
      if (['xhr', 'fetch'].includes(request.resourceType())) this.#open += change;
    };
    page.on('request', count(1));
    page.on('requestfinished', count(-1));
    page.on('requestfailed', count(-1));
  }

  get any(): boolean {
    return this.#open > 0;
  }
}

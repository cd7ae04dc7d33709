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
  readonly requests: OpenRequests;
}

export async function openTab(page: Page, windows: OpeningWindows): Promise<Tab> {
  const cdp = await page.context().newCDPSession(page);
  const navigation = await within(Navigation.watch(cdp, windows), ANSWER_LIMIT_MS, 'Opening a tab');
  return { page, cdp, world: new PageWorld(cdp), navigation, windows, requests: new OpenRequests(page) };
}

/** Data requests that the page's scripts have not had an answer to. Read where a benchmark has no counter of its own. */
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

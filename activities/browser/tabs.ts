import type { Dialog, Page, Request } from 'playwright-core';
import type { ActionResult } from '../../benchmarks/contract.ts';
import { weather } from '../failures.ts';
import { OpeningWindows } from './navigation.ts';
import { openTab, type Tab, type TabOptions } from './tab.ts';

const TAB_LIMIT = 10;
const DIALOG_LIMIT = 5;

export interface TabsOptions extends Omit<TabOptions, 'windows'> {
  /** True where every request goes to a proxy of the environment's, which answers as long as it lives. */
  readonly isProxied: boolean;
}

/** The open pages of a session, and which of them has the person's eye. */
export class Tabs {
  readonly #options: TabsOptions;
  readonly #windows = new OpeningWindows();
  readonly #fail: (error: unknown) => void;
  #tabs: Tab[] = [];
  #active: Tab | null = null;
  /** Of the tabs, and those that are becoming one. */
  readonly #pages = new Set<Page>();
  #dialogs: string[] = [];

  /** `fail` is told when a page crashes, when the last one closes, and when the application is gone. */
  constructor(options: TabsOptions, fail: (error: unknown) => void) {
    this.#options = options;
    this.#fail = fail;
  }

  get all(): readonly Tab[] {
    return this.#tabs;
  }

  get active(): Tab {
    if (this.#active === null) throw weather('BrowserCrashed', 'There is no open page.');
    return this.#active;
  }

  async adopt(page: Page): Promise<void> {
    this.#pages.add(page);
    page.on('close', () => this.#drop(page));
    page.on('dialog', (dialog) => this.#answer(dialog));
    page.on('crash', () => this.#fail(weather('BrowserCrashed', 'The page crashed.')));
    if (this.#options.isProxied) page.on('requestfailed', (request) => this.#noticeDeadApp(request));
    const tab = await openTab(page, { ...this.#options, windows: this.#windows });
    if (page.isClosed()) return;
    this.#tabs.push(tab);
    this.#active = tab;
  }

  /** A window that a page opened becomes the active tab, as it does for a person. */
  async adoptPopup(page: Page): Promise<void> {
    try {
      if (this.#pages.size >= TAB_LIMIT) await page.close();
      else await this.adopt(page);
    } catch (error) {
      if (!page.isClosed()) this.#fail(error);
    } finally {
      this.#windows.appeared();
    }
  }

  async switchTo(index: number): Promise<ActionResult> {
    const tab = this.#tabs[index];
    if (tab === undefined) {
      const message = `There is no tab ${index}: there are ${this.#tabs.length}, counted from 0.`;
      return { ok: false, code: 'invalid', message };
    }
    await tab.page.bringToFront();
    this.#active = tab;
    return { ok: true, note: null };
  }

  /** What the pages' own dialogs have said since this was last asked. */
  takeDialogs(): readonly string[] {
    const said = this.#dialogs;
    this.#dialogs = [];
    return said;
  }

  /** Nothing that was announced until now will come any more. */
  forgetWindows(): void {
    this.#windows.forget();
  }

  /** Leaving a page is the policy's decision; every other question is answered with no. */
  async #answer(dialog: Dialog): Promise<void> {
    const leaves = dialog.type() === 'beforeunload';
    if (!leaves && this.#dialogs.length < DIALOG_LIMIT) this.#dialogs.push(dialog.message().slice(0, 200));
    const answered = leaves ? dialog.accept() : dialog.dismiss();
    // A page that goes away takes its dialog along.
    await answered.catch(() => undefined);
  }

  /** A policy must not be graded on an application that is gone: its browser shows an error, or stale data for ever. */
  #noticeDeadApp(request: Request): void {
    const error = request.failure()?.errorText ?? '';
    if (!error.includes('ERR_PROXY_')) return;
    this.#fail(weather('NetworkDown', `The application stopped answering: ${request.url()} ${error}.`));
  }

  #drop(page: Page): void {
    this.#pages.delete(page);
    const tab = this.#tabs.find((known) => known.page === page);
    if (tab === undefined) return;
    this.#tabs = this.#tabs.filter((other) => other !== tab);
    if (this.#active === tab) this.#active = this.#tabs.at(-1) ?? null;
    if (this.#active === null) this.#fail(weather('BrowserCrashed', 'The last page was closed.'));
    // Nobody has to wait for what it was about to load.
    tab.navigation.forget();
  }
}

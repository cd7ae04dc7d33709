import type { CDPSession } from 'playwright-core';

/**
 * Knows whether a page is on its way to another document. The events come from the page's renderer, in order with
 * the replies to our own calls: once a call made after a click has returned, a navigation that the click asked for
 * has been announced. So nothing here depends on how busy the machine is.
 */
export class Navigation {
  #mainFrame: string;
  /** Asked for but not begun: a clicked link, a submitted form. */
  #requested = false;
  #loading = false;
  /** Windows that the page opened and that did not appear yet. */
  #windows = 0;
  #wake: (() => void)[] = [];

  private constructor(mainFrame: string) {
    this.#mainFrame = mainFrame;
  }

  static async watch(cdp: CDPSession): Promise<Navigation> {
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const navigation = new Navigation(frameTree.frame.id);
    navigation.#listen(cdp);
    await cdp.send('Page.enable');
    return navigation;
  }

  get isPending(): boolean {
    return this.#requested || this.#loading;
  }

  get awaitsWindow(): boolean {
    return this.#windows > 0;
  }

  windowAppeared(): void {
    this.#change(() => {
      this.#windows = Math.max(0, this.#windows - 1);
    });
  }

  /** Gives up on what was announced and never came: a link to another program, a blocked window. */
  forget(): void {
    this.#change(() => {
      this.#requested = false;
      this.#loading = false;
      this.#windows = 0;
    });
  }

  /** Resolves at the next event. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #change(apply: () => void): void {
    apply();
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }

  #listen(cdp: CDPSession): void {
    const ofMainFrame = (frameId: string, apply: () => void) => {
      if (frameId === this.#mainFrame) this.#change(apply);
    };
    cdp.on('Page.frameRequestedNavigation', ({ frameId, disposition }) =>
      ofMainFrame(frameId, () => {
        this.#requested ||= disposition === 'currentTab';
      }),
    );
    cdp.on('Page.frameStartedLoading', ({ frameId }) =>
      ofMainFrame(frameId, () => {
        this.#requested = false;
        this.#loading = true;
      }),
    );
    cdp.on('Page.frameStoppedLoading', ({ frameId }) =>
      ofMainFrame(frameId, () => {
        this.#loading = false;
      }),
    );
    cdp.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId === undefined) this.#mainFrame = frame.id;
    });
    cdp.on('Page.windowOpen', () =>
      this.#change(() => {
        this.#windows += 1;
      }),
    );
  }
}

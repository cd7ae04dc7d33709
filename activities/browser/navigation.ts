import type { CDPSession } from 'playwright-core';

/** Something that can be waited for. */
class Changing {
  #waiting: (() => void)[] = [];

  /** Resolves at the next event. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  protected change(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Windows that the pages of a session have asked for and that did not appear yet, or the other way round. */
export class OpeningWindows extends Changing {
  #balance = 0;

  get any(): boolean {
    return this.#balance > 0;
  }

  announced(): void {
    this.#balance += 1;
    this.change();
  }

  appeared(): void {
    this.#balance -= 1;
    this.change();
  }

  /** Starts over: whatever was announced until now will not come any more. */
  forget(): void {
    this.#balance = 0;
    this.change();
  }
}

/**
 * Knows whether a page is on its way to another document. The events come from the page's renderer, in order with
 * the replies to our own calls: once a call made after a click has returned, a navigation that the click asked for
 * has been announced. So nothing here depends on how busy the machine is.
 */
export class Navigation extends Changing {
  #mainFrame: string;
  /** Asked for but not begun: a clicked link, a submitted form. */
  #requested = false;
  #loading = false;

  private constructor(mainFrame: string) {
    super();
    this.#mainFrame = mainFrame;
  }

  static async watch(cdp: CDPSession, windows: OpeningWindows): Promise<Navigation> {
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const navigation = new Navigation(frameTree.frame.id);
    navigation.#listen(cdp);
    cdp.on('Page.windowOpen', () => windows.announced());
    await cdp.send('Page.enable');
    return navigation;
  }

  get isPending(): boolean {
    return this.#requested || this.#loading;
  }

  /** Gives up on what was announced and never came: a link to another program, a page that never ends. */
  forget(): void {
    this.#requested = false;
    this.#loading = false;
    this.change();
  }

  #listen(cdp: CDPSession): void {
    cdp.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
      if (frameId !== this.#mainFrame || disposition !== 'currentTab') return;
      this.#requested = true;
      this.change();
    });
    cdp.on('Page.frameStartedLoading', ({ frameId }) => {
      if (frameId !== this.#mainFrame) return;
      this.#requested = false;
      this.#loading = true;
      this.change();
    });
    cdp.on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId !== this.#mainFrame) return;
      this.#loading = false;
      this.change();
    });
    cdp.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId === undefined) this.#mainFrame = frame.id;
    });
  }
}

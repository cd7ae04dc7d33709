/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/** Tells when a page has come to rest. Runs in the page (see dom.ts). */
export class Quiet {
  readonly #dom: Dom;

  constructor(dom: Dom) {
    this.#dom = dom;
  }

  /**
   * Waits for one frame and the tasks that it queued, so that scroll events, observers and scheduled renders are
   * through; ends the animations that would end by themselves. `calm` is false while there is more to come.
   */
  async nextFrame(): Promise<{ calm: boolean }> {
    await new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return { calm: !this.#dom.isLoading() && !this.#endAnimations() };
  }

  #endAnimations(): boolean {
    const finite = Document.prototype.getAnimations
      .call(document)
      .filter((animation) => animation.playState === 'running' && this.#isFinite(animation));
    for (const animation of finite) animation.finish();
    return finite.length > 0;
  }

  #isFinite(animation: Animation): boolean {
    const end = animation.effect?.getComputedTiming().endTime;
    return animation.playbackRate > 0 && typeof end === 'number' && Number.isFinite(end);
  }

  /** Resolves once nothing has changed for `quietMs`, or after `limitMs`: some pages never stop. */
  quiet(quietMs: number, limitMs: number): Promise<{ calm: boolean }> {
    return new Promise((resolve) => {
      const end = (calm: boolean) => {
        observer.disconnect();
        clearTimeout(limit);
        clearTimeout(timer);
        resolve({ calm });
      };
      const limit = setTimeout(() => end(false), limitMs);
      let timer = setTimeout(() => end(true), quietMs);
      const observer = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(() => end(true), quietMs);
      });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  }
}

import type { CDPSession } from 'playwright-core';
import { type PageCall, pageSource } from './page/source.ts';

/** The document that a call ran in went away before the call returned. */
export class DocumentReplaced extends Error {
  override readonly name = 'DocumentReplaced';
}

/** The page's half of the harness threw: a defect of ours, or a page stranger than any we know. */
export class PageScriptError extends Error {
  override readonly name = 'PageScriptError';
}

/**
 * An isolated JavaScript world of a page's main frame: it sees the page's DOM, and the page's scripts cannot see it,
 * so a hostile page can neither break the harness nor plant refs in it. Its state dies with the document.
 */
export class PageWorld {
  readonly #cdp: CDPSession;
  #context: number | null = null;

  constructor(cdp: CDPSession) {
    this.#cdp = cdp;
  }

  /** Runs one of the harness's page functions. The caller parses what it gets: the page is a door. */
  async call(name: PageCall, ...args: readonly unknown[]): Promise<unknown> {
    const expression = `clift(${JSON.stringify(name)}, ...${JSON.stringify(args)})`;
    for (;;) {
      try {
        const context = this.#context ?? (await this.#install());
        return await this.#evaluate(expression, context);
      } catch (error) {
        this.#context = null;
        if (!isUnknownContext(error)) throw isGone(error) ? new DocumentReplaced(messageOf(error)) : error;
      }
    }
  }

  /** Evaluates an expression among the page's own scripts; undefined where it throws. */
  async evaluateInPage(expression: string): Promise<unknown> {
    try {
      const { result, exceptionDetails } = await this.#cdp.send('Runtime.evaluate', {
        expression,
        returnByValue: true,
      });
      return exceptionDetails === undefined ? result.value : undefined;
    } catch (error) {
      throw isGone(error) ? new DocumentReplaced(messageOf(error)) : error;
    }
  }

  async #install(): Promise<number> {
    const { frameTree } = await this.#cdp.send('Page.getFrameTree');
    const { executionContextId } = await this.#cdp.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'clift',
    });
    await this.#evaluate(`${pageSource}0`, executionContextId);
    this.#context = executionContextId;
    return executionContextId;
  }

  async #evaluate(expression: string, contextId: number): Promise<unknown> {
    const { result, exceptionDetails } = await this.#cdp.send('Runtime.evaluate', {
      expression,
      contextId,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails === undefined) return result.value;
    throw new PageScriptError(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The document was replaced before the call began: nothing has happened yet. */
function isUnknownContext(error: unknown): boolean {
  return /Cannot find context/.test(messageOf(error));
}

function isGone(error: unknown): boolean {
  return /context was destroyed|Promise was collected|navigated or closed|uniqueContextId not found|No frame/i.test(
    messageOf(error),
  );
}

import { z } from 'zod';
import { TimedOut, within } from './deadline.ts';
import { DocumentReplaced } from './page-world.ts';
import { hasClosed, type Tab } from './tab.ts';

/**
 * When a page counts as settled. With a pending expression the page itself says when it is done, so the end of the
 * wait does not depend on how busy the machine is; without one, quiet is all there is to go by.
 */
export type SettleRule =
  | { readonly by: 'expression'; readonly expression: string; readonly limitMs: number }
  | {
      readonly by: 'quiet';
      /** Time without a change of the page or an open request. */
      readonly quietMs: number;
      /** Cap on waiting for quiet once the document is there: some pages never stop changing. */
      readonly quietLimitMs: number;
      /** Cap on waiting for the answer to an open request. */
      readonly answerLimitMs: number;
      /** Cap on everything, navigation included. */
      readonly limitMs: number;
    };

export function settleRule(pendingExpression: string | null, isProxied: boolean): SettleRule {
  if (pendingExpression !== null) return { by: 'expression', expression: pendingExpression, limitMs: 10_000 };
  // A server of ours answers at once, unless the machine is busy: what it was sent must not be missed.
  const answerLimitMs = isProxied ? 5_000 : 1_000;
  return { by: 'quiet', quietMs: 150, quietLimitMs: 1_000, answerLimitMs, limitMs: 10_000 };
}

/** Suggestions come when the page thinks that its user has stopped typing: 200 to 300 ms after the last key. */
const TYPING_QUIET_MS = 350;

/** The rule after keys. */
export function afterTyping(rule: SettleRule): SettleRule {
  return rule.by === 'quiet' ? { ...rule, quietMs: TYPING_QUIET_MS } : rule;
}

const STOP_LIMIT_MS = 2_000;

const calmSchema = z.object({ calm: z.boolean() });

/**
 * Waits until the tab has settled; false when the rule's limit came first. Ends early for a tab that is not active
 * any more: the browser draws no frames for it.
 */
export async function settle(tab: Tab, rule: SettleRule, isActive: () => boolean): Promise<boolean> {
  const { navigation, windows } = tab;
  const deadline = performance.now() + rule.limitMs;
  const wait = <T>(work: Promise<T>) => within(work, deadline - performance.now(), 'Settling');
  try {
    while (isActive()) {
      if (navigation.isPending || windows.any) {
        await wait(Promise.race([navigation.changed(), windows.changed()]));
      } else if (await wait(isCalm(tab, rule))) {
        return true;
      }
    }
    return true;
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    await giveUpLoading(tab);
    return false;
  }
}

/** Presses the browser's stop button: until then the old page would not answer. */
export async function giveUpLoading({ cdp, navigation }: Tab): Promise<void> {
  await within(cdp.send('Page.stopLoading'), STOP_LIMIT_MS, 'Stopping a page that does not load');
  navigation.forget();
}

/** One look at the page. What happened in a document that has been replaced says nothing about its successor. */
async function isCalm(tab: Tab, rule: SettleRule): Promise<boolean> {
  try {
    const frame = calmSchema.parse(await tab.world.call('nextFrame'));
    if (!frame.calm || tab.navigation.isPending || tab.windows.any) return false;
    if (rule.by === 'expression') {
      return (await tab.world.evaluateInPage(rule.expression)) === 0 && !tab.navigation.isPending;
    }
    return await becomesQuiet(tab, rule);
  } catch (error) {
    if (error instanceof DocumentReplaced || (await hasClosed(tab, error))) return false;
    throw error;
  }
}

async function becomesQuiet(tab: Tab, rule: Extract<SettleRule, { by: 'quiet' }>): Promise<boolean> {
  const began = performance.now();
  const leftMs = () =>
    began + (tab.requests?.areUnanswered ? rule.answerLimitMs : rule.quietLimitMs) - performance.now();
  while (leftMs() > 0) {
    const limitMs = Math.round(Math.min(leftMs(), rule.quietLimitMs));
    const { calm } = calmSchema.parse(await tab.world.call('quiet', rule.quietMs, limitMs));
    if (tab.navigation.isPending) return false;
    if (calm && !tab.requests?.any) return true;
  }
  return true;
}

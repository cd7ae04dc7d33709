/** One step on each side: our harness, and a plain Playwright script that looks and acts as much. */
import type { Page } from 'playwright-core';
import { OpeningWindows } from '../../../activities/browser/navigation.ts';
import type { BrowserPool } from '../../../activities/browser/pool.ts';
import { newContext, openBrowserSession } from '../../../activities/browser/session.ts';
import { afterTyping, settle, settleRule } from '../../../activities/browser/settle.ts';
import { openTab } from '../../../activities/browser/tab.ts';
import type { Action, Benchmark, Environment } from '../../../benchmarks/contract.ts';
import { locate } from '../../../cli/rollout/locate.ts';
import type { Walk, WalkStep } from './walk.ts';

/** In ms. */
export interface StepTimes {
  readonly observe: number;
  readonly act: number;
  readonly screenshot: number;
  readonly settle: number;
}

/** A page that takes steps. */
export interface Side {
  take(step: WalkStep): Promise<StepTimes>;
  close(): Promise<void>;
}

export type OpenSide = (place: Place, walk: Walk) => Promise<Side>;

export interface Place {
  readonly pool: BrowserPool;
  readonly benchmark: Benchmark;
}

const { signal } = new AbortController();

async function timed<T>(work: () => Promise<T>): Promise<readonly [result: T, ms: number]> {
  const began = performance.now();
  const result = await work();
  return [result, performance.now() - began];
}

// ---- our harness -------------------------------------------------------------------------------------------

export const openOurs: OpenSide = async ({ pool, benchmark }, { task }) => {
  const environment = await benchmark.open(task, signal);
  const session = await openBrowserSession({ pool, environment, task, clock: benchmark.clock, signal });
  return {
    take: async (step) => {
      const [observation, observe] = await timed(() => session.observe());
      const { ref } = locate(observation, { role: step.role, name: step.name, nth: 0 });
      const result = await session.act(actionOf(step, ref));
      if (!result.ok) throw new Error(`${step.tool} ${step.name}: ${result.message}`);
      const [, screenshot] = await timed(() => session.screenshot());
      const { actMs, settleMs } = session.timings();
      return { observe, act: actMs, screenshot, settle: settleMs };
    },
    close: async () => {
      await session.close();
      await environment.close();
    },
  };
};

function actionOf(step: WalkStep, ref: string): Action {
  if (step.tool === 'click') return { tool: 'click', ref, kind: 'single' };
  return { tool: 'type', ref, text: step.text, clear: true, submit: true };
}

// ---- a plain Playwright script -----------------------------------------------------------------------------

export const openPlain: OpenSide = async ({ pool, benchmark }, { task }) => {
  const environment = await benchmark.open(task, signal);
  const use = await pool.use();
  const context = await newContext(use, { environment, task, clock: benchmark.clock });
  const page = await context.newPage();
  const settleAfter = await settler(page, environment);
  await page.goto(task.startUrl, { waitUntil: 'commit' });
  await settleAfter('click');
  return {
    take: async (step) => {
      const [, observe] = await timed(() => page.ariaSnapshot({ mode: 'ai' }));
      const [, act] = await timed(() => actPlainly(page, step));
      const settled = await settleAfter(step.tool);
      const [, screenshot] = await timed(() => page.screenshot({ type: 'jpeg', quality: 70 }));
      return { observe, act, screenshot, settle: settled };
    },
    close: async () => {
      await context.close();
      await use.release('sound');
      await environment.close();
    },
  };
};

/** The settle rule of our side, so that both wait for the same. */
async function settler(
  page: Page,
  { pendingExpression }: Environment,
): Promise<(tool: WalkStep['tool']) => Promise<number>> {
  const rule = settleRule(pendingExpression, true);
  const tab = await openTab(page, { windows: new OpeningWindows(), countRequests: rule.by === 'quiet' });
  return async (tool) => {
    const [, ms] = await timed(() => settle(tab, tool === 'type' ? afterTyping(rule) : rule, () => true));
    return ms;
  };
}

async function actPlainly(page: Page, step: WalkStep): Promise<void> {
  const target =
    step.role === 'generic'
      ? page.getByText(step.name).first()
      : page.getByRole(step.role, { name: step.name, exact: true }).first();
  if (step.tool === 'click') return target.click();
  await target.fill(step.text);
  await target.press('Enter');
}

/**
 * `npm run bench:harness`: what our harness costs a step, without a model. On the sandbox; on WebArena-Infinity where
 * CLIFT_WAI_ROOT names a checkout. Exits with 1 when a goal is missed.
 */
import { availableParallelism, loadavg } from 'node:os';
import { table } from '../../cli/report/table.ts';
import { plainPaint } from '../../cli/report/terminal-text.ts';
import { withPool } from '../../cli/rollout/with-pool.ts';
import { benchmarkNamed } from '../../workers/parts.ts';
import { loadSettings } from '../../workers/settings.ts';
import { ensureChromium } from '../chromium.ts';
import { ensureBrowserUse, linksOf, walkWithBrowserUse, walkWithOurs } from './harness/browser-use.ts';
import { measureMemory, measureThroughput } from './harness/load.ts';
import { compareSides, comparisonRows, cycleOf } from './harness/side-by-side.ts';
import type { Place } from './harness/sides.ts';
import { walksOn } from './harness/walk.ts';
import { describeMachine } from './machine.ts';
import { median, reportGoal, spread } from './numbers.ts';

const ROUNDS = 6;
const CONTEXTS = 8;
const GOAL_CYCLE_RATIO = 1.3;
const GOAL_FASTER = 3;
const GOAL_SCALING = 0.8;

const settings = loadSettings();
const say = (line: string) => process.stderr.write(`${line}\n`);
const benchmark = benchmarkNamed(settings.waiRoot === undefined ? 'sandbox' : 'wai', settings);
const walks = walksOn(benchmark);

await withPool(settings, say, async (pool) => {
  const place: Place = { pool, benchmark };
  console.log(`machine: ${describeMachine()}, load ${loadavg()[0]?.toFixed(1)} at the start`);
  const isMet = [await reportSides(place), await reportBrowserUse(place), await reportLoad(place)];
  if (isMet.includes(false)) process.exitCode = 1;
});

async function reportSides(place: Place): Promise<boolean> {
  const compared = await compareSides(place, walks, ROUNDS);
  const titles = [`ms on ${benchmark.name}`, 'our harness', 'plain Playwright', 'ratio'];
  const columns = titles.map((title, index) => ({ title, align: index === 0 ? 'left' : 'right' }) as const);
  console.log(`\n${compared.ours.length} steps a side, in turns; median and [10 %, 90 %]`);
  console.log(table(columns, comparisonRows(compared), plainPaint).join('\n'));
  const ratio = median(compared.ours.map(cycleOf)) / median(compared.plain.map(cycleOf));
  return reportGoal(
    `a step of ours takes ${ratio.toFixed(2)} × a plain script's (goal: at most ${GOAL_CYCLE_RATIO})`,
    ratio <= GOAL_CYCLE_RATIO,
  );
}

/** On the sandbox, whose links both can name. Where browser-use cannot be installed no goal is missed. */
async function reportBrowserUse(place: Place): Promise<boolean> {
  const [walk] = walks;
  if (benchmark.name !== 'sandbox' || walk === undefined) return true;
  const python = await ensureBrowserUse(settings, say);
  if (python instanceof Error) {
    console.log(`\nnot compared with browser-use: ${python.message}`);
    return true;
  }
  const names = linksOf(walk, 3);
  const { executablePath } = await ensureChromium(settings, say);
  const theirs = await walkWithBrowserUse(python, settings, place, walk, names, executablePath);
  const ours = await walkWithOurs(settings, place, walk, names);
  const inMs = (seconds: readonly number[]) => spread(seconds.map((each) => 1000 * each));
  console.log(
    `\nms from one reply of a model without latency to the next, ${ours.length} steps; settling included`,
  );
  console.log(`our harness  ${inMs(ours)}\nbrowser-use  ${inMs(theirs)}`);
  const faster = median(theirs) / median(ours);
  return reportGoal(
    `a step is ${faster.toFixed(1)} × as fast as browser-use's (goal: at least ${GOAL_FASTER})`,
    faster >= GOAL_FASTER,
  );
}

async function reportLoad(place: Place): Promise<boolean> {
  const alone = await measureThroughput(place, walks, 1, 4);
  const many = await measureThroughput(place, walks, CONTEXTS, 2);
  const memory = await measureMemory(place, walks, CONTEXTS);
  console.log();
  for (const { contexts, stepsPerSecond, cpuSecondsPerStep, share } of [alone, many]) {
    console.log(
      `${contexts} context${contexts === 1 ? ' ' : 's'}: ${stepsPerSecond.toFixed(1)} steps/s, ` +
        `${(1000 * cpuSecondsPerStep).toFixed(0)} ms CPU a step, ${(100 * share).toFixed(0)} % of the cores`,
    );
  }
  console.log(`memory: ${memory.toFixed(0)} MiB a context at ${CONTEXTS} contexts`);
  const possible = availableParallelism() / alone.cpuSecondsPerStep;
  const scaling = many.stepsPerSecond / possible;
  return reportGoal(
    `${CONTEXTS} contexts reach ${(100 * scaling).toFixed(0)} % of ${possible.toFixed(1)} steps/s, the cores' CPU ` +
      `over what a step needs alone (goal: at least ${100 * GOAL_SCALING} %)`,
    scaling >= GOAL_SCALING,
  );
}

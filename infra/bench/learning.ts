/**
 * `npm run bench:learning`: does CLIFT learn? Runs `infra/experiments/demo.yaml` for seeds 1 to 5 on all held-out tasks,
 * in the ordinary home, so that every figure can be audited afterwards; continues where it was stopped and reuses what is
 * finished.
 * `-- --ablation` adds vanilla GRPO, which takes about as long again. Prints the table of the README. Exits with 1 when
 * CLIFT's mean success is not at least 15 points above the base, or the 95 % interval of the paired difference over
 * seeds does not exclude zero.
 */
import { join } from 'node:path';
import { runDemo } from '../../cli/demo-runs.ts';
import { type Experiment, readExperiment } from '../../cli/experiment.ts';
import { duration } from '../../cli/progress.ts';
import { collectDemoReport } from '../../cli/report/demo-report.ts';
import { withWorkplace } from '../../cli/workplace.ts';
import { loadSettings } from '../../workers/settings.ts';
import { mean } from '../../workflows/method/mean.ts';
import { pairedInterval } from '../../workflows/method/rates.ts';
import { describeMachine } from './machine.ts';

const SEEDS = [1, 2, 3, 4, 5];
const GOAL_POINTS = 15;

/** Success of every arm on all tasks of the list, in [0, 1]. */
type SeedResult = ReadonlyMap<string, number>;

const say = (line: string) => process.stderr.write(`${line}\n`);
const settings = loadSettings();
const began = performance.now();
/** The demo's, evaluated on every held-out task. */
const experimentOf = (seed: number): Experiment => {
  const demo = readExperiment(join(settings.projectDirectory, 'infra/experiments/demo.yaml'), { seed });
  return { ...demo, evaluation: { ...demo.evaluation, taskLimit: null } };
};

const ablation = process.argv.includes('--ablation');
const results: SeedResult[] = [];
await withWorkplace(settings, say, async (workplace) => {
  for (const seed of SEEDS) {
    say(`seed ${seed}`);
    const runs = await runDemo(workplace, {
      prefix: 'learning',
      experiment: experimentOf(seed),
      ablation,
      whenFinished: 'reuse',
    });
    const { arms } = await collectDemoReport(workplace.store, runs);
    results.push(new Map(arms.map(({ name, rates }) => [name, rates.ofAll?.rate ?? Number.NaN])));
  }
});
printTable(results);

function printTable(seeds: readonly SeedResult[]): void {
  const arms = [...(seeds[0]?.keys() ?? [])];
  const { steps, hyperparameters } = experimentOf(1).train;
  console.log(`| seed | ${arms.join(' | ')} |`);
  console.log(`|---|${arms.map(() => '---').join('|')}|`);
  for (const [index, seed] of seeds.entries()) {
    console.log(`| ${SEEDS[index]} | ${arms.map((arm) => percent(seed.get(arm))).join(' | ')} |`);
  }
  console.log(
    `| mean | ${arms.map((arm) => percent(mean(seeds.flatMap((seed) => seed.get(arm) ?? [])))).join(' | ')} |`,
  );
  console.log(
    `\n${steps} training steps of ${hyperparameters.groupSize} rollouts a seed and arm; paired over seeds:`,
  );
  const isMet = arms.slice(1).map((arm) => printDifference(arm, 'base', seeds));
  if (arms.includes('GRPO')) printDifference('CLIFT', 'GRPO', seeds);
  console.log(`machine: ${describeMachine()}; this session took ${duration(performance.now() - began)}`);
  if (isMet[arms.slice(1).indexOf('CLIFT')] !== true) process.exitCode = 1;
}

/** Student interval over seeds, 4 degrees of freedom; true when the goal is met. */
function printDifference(arm: string, against: string, seeds: readonly SeedResult[]): boolean {
  const pairs = seeds.map((seed) => [seed.get(against) ?? Number.NaN, seed.get(arm) ?? Number.NaN] as const);
  const difference = pairedInterval(pairs);
  if (difference === null) return false;
  const [points, low, high] = [difference.mean, difference.low, difference.high].map((value) => 100 * value);
  console.log(
    `- ${arm} − ${against}: ${points?.toFixed(1)} points, 95 % interval ${low?.toFixed(1)} to ${high?.toFixed(1)}`,
  );
  return (points ?? 0) >= GOAL_POINTS && (low ?? 0) > 0;
}

function percent(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '–' : `${(100 * rate).toFixed(1)} %`;
}

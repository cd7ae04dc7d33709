/**
 * `npm run bench:grader`: every outcome verifier of a WebArena-Infinity checkout (CLIFT_WAI_ROOT), those of its five
 * ablations included, on the untouched state of its app. Beside it, in the same run, a Python process for each of a
 * sample. Exits with 1 when the goal is missed or a verifier fails.
 */
import type { BrowserPool } from '../../activities/browser/pool.ts';
import type { Benchmark, Evidence, Task } from '../../benchmarks/contract.ts';
import { ablations, edition } from '../../benchmarks/wai/edition.ts';
import { Grader } from '../../benchmarks/wai/grader.ts';
import { createWaiBenchmark } from '../../benchmarks/wai/index.ts';
import { loadUntouched } from '../../cli/benchmark-doctor/examine.ts';
import { withPool } from '../../cli/rollout/with-pool.ts';
import { loadSettings } from '../../workers/settings.ts';
import { describeMachine } from './machine.ts';
import { median, reportGoal } from './numbers.ts';

const GOAL_S = 60;
const SAMPLE = 40;

interface Job {
  readonly benchmark: Benchmark;
  readonly task: Task;
  readonly untouched: Evidence;
}

async function jobsOf(pool: BrowserPool, benchmark: Benchmark): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const tasks of Map.groupBy(benchmark.tasks, ({ app }) => app).values()) {
    const [first] = tasks;
    if (first === undefined) continue;
    const { signal } = new AbortController();
    const untouched = await loadUntouched({ benchmark, pool, signal }, first);
    jobs.push(...tasks.map((task) => ({ benchmark, task, untouched })));
  }
  return jobs;
}

/** Milliseconds of each job, one after the other. */
async function timeEach(jobs: readonly Job[], after: () => void = () => {}): Promise<readonly number[]> {
  const times: number[] = [];
  for (const { benchmark, task, untouched } of jobs) {
    const began = performance.now();
    await benchmark.grade(task, untouched);
    after();
    times.push(performance.now() - began);
  }
  return times;
}

const settings = loadSettings();
const grader = new Grader();
const benchmarks = [edition, ablations].map((each) =>
  createWaiBenchmark({ root: settings.waiRoot, edition: each, grader }),
);
const jobs = await withPool(settings, console.error, async (pool) => {
  const each: Job[][] = [];
  for (const benchmark of benchmarks) each.push(await jobsOf(pool, benchmark));
  return each.flat();
});

const warm = await timeEach(jobs);
const stride = Math.ceil(jobs.length / SAMPLE);
const sample = jobs.filter((_, index) => index % stride === 0);
grader.close();
const cold = await timeEach(sample, () => grader.close());

const totalS = warm.reduce((sum, each) => sum + each, 0) / 1000;
const sampledWarm = warm.filter((_, index) => index % stride === 0);
console.log(`machine: ${describeMachine()}`);
const isMet = reportGoal(
  `${jobs.length} verifier runs in ${totalS.toFixed(1)} s (goal: at most ${GOAL_S} s), ` +
    `${median(warm).toFixed(1)} ms at the median, ${Math.max(...warm).toFixed(0)} ms at most`,
  totalS <= GOAL_S,
);
console.log(
  `a process for each of ${sample.length} of them: ${median(cold).toFixed(0)} ms at the median, ` +
    `${(median(cold) / median(sampledWarm)).toFixed(0)} times as long`,
);
process.exitCode = isMet ? 0 : 1;

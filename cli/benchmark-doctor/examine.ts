/** What two agents that need no model make of a benchmark's tasks: one that does nothing, one that knows the solution. */
import { type Graded, grade } from '../../activities/browser/outcome.ts';
import type { BrowserPool } from '../../activities/browser/pool.ts';
import { openBrowserSession } from '../../activities/browser/session.ts';
import type { Benchmark, Evidence, Oracle, Task } from '../../benchmarks/contract.ts';
import { playRollout } from '../rollout/play.ts';

export interface ExaminedTask {
  readonly task: Task;
  /** Verdicts on the untouched app, each from evidence of its own. */
  readonly untouched: readonly Graded[];
  /** Verdicts on the solved task; more than one where solving it again costs nothing. */
  readonly solved: readonly Graded[];
}

export interface Examination {
  readonly benchmark: Benchmark;
  readonly tasks: readonly Task[];
  readonly pool: BrowserPool;
  readonly signal: AbortSignal;
  /** Told of each task when it has been examined. */
  readonly onTask?: (done: number, total: number) => void;
}

/** Throws when the benchmark has no oracle, and weather when a browser or an app fails. */
export async function examineTasks(examination: Examination): Promise<readonly ExaminedTask[]> {
  const { oracle, name } = examination.benchmark;
  switch (oracle?.kind) {
    case 'agent':
      return playEach(examination, oracle);
    case 'state':
      return solveEach(examination, oracle);
    case undefined:
      throw new Error(`${name} has no oracle: nobody here knows the solutions of its tasks`);
  }
}

async function playEach(
  { benchmark, tasks, pool, signal, onTask }: Examination,
  oracle: Extract<Oracle, { kind: 'agent' }>,
): Promise<readonly ExaminedTask[]> {
  const examined: ExaminedTask[] = [];
  for (const task of tasks) {
    const { untouched, graded } = await playRollout({
      ...{ benchmark, task, pool, signal },
      agent: (observation, history) => oracle.act(task, observation, history),
    });
    examined.push({ task, untouched: [untouched], solved: [graded] });
    onTask?.(examined.length, tasks.length);
  }
  return examined;
}

/** Every app is loaded twice: what two loads do not agree on is no property of the task. */
async function solveEach(
  examination: Examination,
  oracle: Extract<Oracle, { kind: 'state' }>,
): Promise<readonly ExaminedTask[]> {
  const { benchmark, tasks, onTask } = examination;
  const examined: ExaminedTask[] = [];
  for (const ofApp of Map.groupBy(tasks, ({ app }) => app).values()) {
    const [first] = ofApp;
    if (first === undefined) continue;
    const loads = [await loadUntouched(examination, first), await loadUntouched(examination, first)];
    for (const task of ofApp) {
      const untouched: Graded[] = [];
      const solved: Graded[] = [];
      for (const load of loads) {
        untouched.push(await grade(benchmark, task, load, []));
        solved.push(await solveAndGrade(benchmark, oracle, task, load));
      }
      examined.push({ task, untouched, solved });
      onTask?.(examined.length, tasks.length);
    }
  }
  return examined;
}

/** Opens the app's page as a rollout would, and touches nothing. */
export async function loadUntouched(
  { benchmark, pool, signal }: Pick<Examination, 'benchmark' | 'pool' | 'signal'>,
  task: Task,
): Promise<Evidence> {
  const environment = await benchmark.open(task, signal);
  try {
    const session = await openBrowserSession({ pool, environment, task, clock: benchmark.clock, signal });
    try {
      return await environment.captureEvidence({ finalUrl: session.url(), answer: null, infeasible: false });
    } finally {
      await session.close();
    }
  } finally {
    await environment.close();
  }
}

/** A solution that fails is a finding, like one that does not pass. */
async function solveAndGrade(
  benchmark: Benchmark,
  oracle: Extract<Oracle, { kind: 'state' }>,
  task: Task,
  untouched: Evidence,
): Promise<Graded> {
  try {
    return await grade(benchmark, task, await oracle.solve(task, untouched), []);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: { kind: 'unscored', cause: 'grader_error' }, message };
  }
}

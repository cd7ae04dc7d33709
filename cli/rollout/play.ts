/** One rollout without Temporal and without a database: acts, grades and tells; nothing is stored. */
import { type Graded, grade } from '../../activities/browser/outcome.ts';
import type { BrowserPool } from '../../activities/browser/pool.ts';
import { type BrowserSession, openBrowserSession } from '../../activities/browser/session.ts';
import type {
  Action,
  Benchmark,
  Environment,
  GuardFlag,
  Observation,
  Task,
  TraceStep,
} from '../../benchmarks/contract.ts';
import { ScriptFailed } from './script.ts';

/** Chooses what to do on the page as it stands. */
export type Agent = (observation: Observation, history: readonly TraceStep[]) => Action | Promise<Action>;

export interface PlayedStep extends TraceStep {
  /** In ms. */
  readonly actMs: number;
  readonly settleMs: number;
}

export interface PlayedRollout {
  readonly taskId: string;
  /** The verdict on the start page: a task that passes untouched says nothing about its rollout. */
  readonly untouched: Graded;
  readonly graded: Graded;
  readonly stopReason: 'answered' | 'infeasible' | 'step_budget' | 'guard' | 'script_failed';
  /** Why the script could not go on. */
  readonly problem: string | null;
  readonly steps: readonly PlayedStep[];
  readonly finalObservation: Observation;
  readonly flags: readonly GuardFlag[];
}

export interface PlayOptions {
  readonly pool: BrowserPool;
  readonly benchmark: Benchmark;
  readonly task: Task;
  readonly agent: Agent;
  readonly signal: AbortSignal;
  /** Told of each step when it is done, with the session that did it. */
  readonly onStep?: (step: PlayedStep, session: BrowserSession) => Promise<void> | void;
}

/** Throws weather when the browser or the application fails; everything else is told in the result. */
export async function playRollout(options: PlayOptions): Promise<PlayedRollout> {
  const { benchmark, task, pool, signal } = options;
  const environment = await benchmark.open(task, signal);
  try {
    const session = await openBrowserSession({ pool, environment, task, clock: benchmark.clock, signal });
    try {
      return await play(options, environment, session);
    } finally {
      await session.close();
    }
  } finally {
    await environment.close();
  }
}

async function play(
  options: PlayOptions,
  environment: Environment,
  session: BrowserSession,
): Promise<PlayedRollout> {
  const { benchmark, task } = options;
  const verdict = async (answer: string | null, infeasible: boolean): Promise<Graded> => {
    const evidence = await environment.captureEvidence({ finalUrl: session.url(), answer, infeasible });
    return grade(benchmark, task, evidence, environment.flags());
  };
  const untouched = await verdict(null, false);
  const { steps, observation, stopReason, problem } = await actToTheEnd(options, environment, session);
  const last = steps.at(-1)?.action;
  const answer = last?.tool === 'stop' ? last.answer : null;
  return {
    taskId: task.id,
    untouched,
    graded: await verdict(answer, stopReason === 'infeasible'),
    stopReason,
    problem,
    steps,
    finalObservation: observation,
    flags: environment.flags(),
  };
}

interface Acted extends Pick<PlayedRollout, 'steps' | 'stopReason' | 'problem'> {
  readonly observation: Observation;
}

async function actToTheEnd(
  { task, agent, onStep, signal }: PlayOptions,
  environment: Environment,
  session: BrowserSession,
): Promise<Acted> {
  const steps: PlayedStep[] = [];
  let observation = await session.observe();
  const ended = (stopReason: PlayedRollout['stopReason'], problem: string | null = null): Acted => ({
    steps,
    observation,
    stopReason,
    problem,
  });
  while (steps.length < task.maxSteps) {
    signal.throwIfAborted();
    let action: Action;
    try {
      action = await agent(observation, steps);
    } catch (error) {
      if (error instanceof ScriptFailed) return ended('script_failed', error.message);
      throw error;
    }
    const { step, seen } = await takeStep(session, observation, action, steps.length);
    steps.push(step);
    observation = seen;
    await onStep?.(step, session);
    if (action.tool === 'stop') return ended('answered');
    if (action.tool === 'infeasible') return ended('infeasible');
    if (environment.flags().some(({ invalidates }) => invalidates)) return ended('guard');
  }
  return ended('step_budget');
}

async function takeStep(session: BrowserSession, before: Observation, action: Action, index: number) {
  const result = await session.act(action);
  const seen = await session.observe();
  const target = 'ref' in action ? before.elements.find(({ ref }) => ref === action.ref) : undefined;
  const step: PlayedStep = {
    index,
    urlBefore: before.url,
    urlAfter: seen.url,
    action,
    target: target ? { role: target.role, name: target.name, context: target.context } : null,
    result,
    ...session.timings(),
  };
  return { step, seen };
}

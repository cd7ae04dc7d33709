import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type BrowserSession, openBrowserSession } from '../../../activities/browser/session.ts';
import type {
  Action,
  ActionTarget,
  Evidence,
  Observation,
  Task,
  TraceStep,
  Verdict,
} from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { type AppSpec, type AppState, reduce, uiSchema } from '../../../benchmarks/sandbox/kit/app.ts';
import { mailApp } from '../../../benchmarks/sandbox/mail/app.ts';
import { shopApp } from '../../../benchmarks/sandbox/shop/app.ts';
import { trackerApp } from '../../../benchmarks/sandbox/tracker/app.ts';
import { createTestPool, type TestPool } from '../../activities/browser/support.ts';

const benchmark = createSandboxBenchmark();
/** More contexts at once than this only wait for one another on two cores. */
const LANES = 4;

interface Played {
  readonly task: Task;
  readonly trace: readonly TraceStep[];
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  readonly flags: number;
  readonly largestPage: number;
}

type Agent = (task: Task, observation: Observation, history: readonly TraceStep[]) => Action;

let browsers: TestPool;
beforeAll(async () => {
  browsers = await createTestPool(1_000);
});
afterAll(() => browsers.close());

function targetOf(action: Action, { elements }: Observation): ActionTarget | null {
  const named = 'ref' in action && elements.find(({ ref }) => ref === action.ref);
  return named ? { role: named.role, name: named.name, context: named.context } : null;
}

async function follow(session: BrowserSession, task: Task, agent: Agent) {
  const trace: TraceStep[] = [];
  let largestPage = 0;
  for (let index = 0; index < task.maxSteps; index += 1) {
    const observation = await session.observe();
    largestPage = Math.max(largestPage, observation.elements.length);
    const action = agent(task, observation, trace);
    const ends = action.tool === 'stop';
    const result = ends ? ({ ok: true, note: null } as const) : await session.act(action);
    const target = targetOf(action, observation);
    trace.push({ index, urlBefore: observation.url, urlAfter: session.url(), action, target, result });
    if (ends) return { trace, answer: action.answer, largestPage };
  }
  return { trace, answer: null, largestPage };
}

async function play(task: Task, agent: Agent): Promise<Played> {
  const { signal } = new AbortController();
  const environment = await benchmark.open(task, signal);
  const session = await openBrowserSession({
    pool: browsers.pool,
    environment,
    task,
    clock: benchmark.clock,
    signal,
  });
  try {
    const { trace, answer, largestPage } = await follow(session, task, agent);
    const evidence = await environment.captureEvidence({
      finalUrl: session.url(),
      answer,
      infeasible: false,
    });
    const verdict = await benchmark.grade(task, evidence);
    return { task, trace, evidence, verdict, flags: environment.flags().length, largestPage };
  } finally {
    await session.close();
    await environment.close();
  }
}

async function playAll(agent: Agent): Promise<Played[]> {
  const waiting = [...benchmark.tasks];
  const played: Played[] = [];
  const lane = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift())
      played.push(await play(task, agent));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return played;
}

/** What stands in the way of calling a list of rollouts all of one kind: empty when they are. */
const exceptions = (played: readonly Played[], kind: Verdict['kind']): string[] =>
  played
    .filter(({ verdict }) => verdict.kind !== kind)
    .map(
      ({ task, verdict, trace }) =>
        `${task.id}: ${verdict.message} after ${trace.map(({ action }) => action.tool)}`,
    );

describe('every task through the page', () => {
  let solved: Played[];
  beforeAll(async () => {
    solved = await playAll(benchmark.oracleAction);
  }, 180_000);

  test('an agent that knows the solution solves it', () => {
    expect(solved).toHaveLength(benchmark.tasks.length);
    expect(exceptions(solved, 'success')).toEqual([]);
  });

  test('an agent that stops at once fails it', async () => {
    const untouched = await playAll(() => ({ tool: 'stop', answer: null }));
    expect(exceptions(untouched, 'failure')).toEqual([]);
  }, 400_000);

  test('the solution reaches every subgoal, makes no mistake and raises no flag', () => {
    for (const { task, trace, evidence, flags } of solved) {
      const rubric = benchmark.rubric(task.id);
      const reached = rubric.filter((subgoal) => subgoal.reachedAt(trace, evidence.answer) !== null);
      expect(
        reached.map(({ id }) => id),
        task.id,
      ).toEqual(rubric.filter(({ weight }) => weight > 0).map(({ id }) => id));
      expect(flags, task.id).toBe(0);
    }
  });

  test('its steps fit the difficulty and the budget, and no page is overcrowded', () => {
    const range = { easy: [2, 4], medium: [4, 7], hard: [7, 12], unrated: [0, 0] } as const;
    for (const { task, trace, largestPage } of solved) {
      const [least, most] = range[task.difficulty];
      expect(trace.length, task.id).toBeGreaterThanOrEqual(least);
      expect(trace.length, task.id).toBeLessThanOrEqual(most);
      expect(task.maxSteps, task.id).toBeGreaterThanOrEqual(trace.length + 4);
      expect(largestPage, task.id).toBeLessThanOrEqual(42);
    }
  });

  test('a destructive command on top of the solution turns it into a failure', async () => {
    for (const { task, evidence } of solved) {
      for (const state of damaged(task, evidence.state)) {
        expect((await benchmark.grade(task, { ...evidence, state })).kind, task.id).toBe('failure');
      }
    }
  });

  test('where an answer is asked for, a wrong one or none fails', async () => {
    const asking = solved.filter(({ task }) => task.expectsAnswer);
    expect(asking.length).toBeGreaterThanOrEqual(9);
    for (const { task, evidence } of asking) {
      for (const answer of [null, '', 'I do not know', `not ${task.instruction}`]) {
        expect((await benchmark.grade(task, { ...evidence, answer })).kind, task.id).toBe('failure');
      }
    }
  });

  test('the verdict can be repeated from stored evidence', async () => {
    for (const { task, evidence, verdict } of solved) {
      expect(await benchmark.grade(task, JSON.parse(JSON.stringify(evidence)))).toEqual(verdict);
    }
  });
});

type Damage = readonly (readonly [command: string, fields: Readonly<Record<string, string>>])[];

/** The final state after each of some commands that no task asks for. */
function damaged(task: Task, state: unknown): unknown[] {
  switch (task.app) {
    case 'mail':
      return spoil(mailApp, state, [
        ['archive-all', {}],
        ['delete-account', {}],
        ['delete-contact', { id: '1' }],
      ]);
    case 'shop':
      return spoil(shopApp, state, [
        ['unsubscribe-all', {}],
        ['close-account', {}],
        ['delete-address', { id: '1' }],
      ]);
    default:
      return spoil(trackerApp, state, [
        ['delete-selected', { issue: '101' }],
        ['archive-project', { id: '1' }],
        ['remove-member', { id: '1' }],
      ]);
  }
}

function spoil<D>(app: AppSpec<D>, state: unknown, damage: Damage): AppState<D>[] {
  const final = z.object({ data: app.schema, ui: uiSchema }).parse(state);
  return damage.map(([name, fields]) =>
    reduce(app, final, { name, fields: new URLSearchParams(fields), from: final.ui.url }),
  );
}

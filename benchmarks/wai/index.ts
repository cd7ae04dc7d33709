import type { Benchmark, Evidence, Task, Verdict } from '../contract.ts';
import { digestOf, sourceDigest } from '../kit/digests.ts';
import { readCheckout } from './checkout.ts';
import { type Edition, edition as knownEdition } from './edition.ts';
import { openEnvironment } from './environment.ts';
import { Grader } from './grader.ts';
import { tasksOf, type WaiTask } from './tasks.ts';

export interface WaiOptions {
  /** Directory of the user's checkout: the one that holds `apps/`. */
  readonly root: string | undefined;
  readonly edition?: Edition;
  readonly grader?: Grader;
}

/** What the apps' data take for today, and the one verifier that knows a date. */
const CLOCK = '2026-03-07T12:00:00Z';

/**
 * WebArena-Infinity on a user's checkout. Throws, with what to do, when there is none or it is another edition.
 */
export function createWaiBenchmark(options: WaiOptions): Benchmark {
  const { root, edition = knownEdition, grader = new Grader() } = options;
  const apps = readCheckout(root, edition);
  const all = apps.flatMap((app) => tasksOf(app, edition));
  const byId = new Map(all.map((entry) => [entry.task.id, entry]));
  const find = ({ id }: Pick<Task, 'id'>): WaiTask => {
    const entry = byId.get(id);
    if (entry === undefined) throw new Error(`WebArena-Infinity has no task ${id}`);
    return entry;
  };
  const tasks = all.map(({ task }) => task);
  return {
    name: 'wai',
    revision: digestOf([
      sourceDigest(new URL('.', import.meta.url)),
      apps.map(({ digest }) => digest),
      tasks,
      CLOCK,
    ]).slice(0, 16),
    resettable: true,
    clock: CLOCK,
    tasks,
    open: (task, signal) => openEnvironment(find(task), signal),
    grade: async (task, { state }) => grade(grader, find(task), state),
    oracle: { kind: 'state', solve: (task, untouched) => solve(grader, find(task), untouched) },
  };
}

/** The benchmark's own solutions change a state directly. */
async function solve(grader: Grader, { task, listed }: WaiTask, untouched: Evidence): Promise<Evidence> {
  const state = await grader.solve(listed.solutions, listed.id, untouched.state);
  return { ...untouched, taskId: task.id, state };
}

/** The benchmark's verifiers look at the final state and nothing else: not the answer, not a claim of infeasibility. */
async function grade(grader: Grader, { listed }: WaiTask, state: unknown): Promise<Verdict> {
  if (state === null) {
    return { kind: 'insufficient_evidence', message: 'no page of the app has sent its state' };
  }
  const { passed, message } = await grader.verify(listed.verifier, state);
  return { kind: passed ? 'success' : 'failure', message };
}

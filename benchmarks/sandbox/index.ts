import type { Action, Benchmark, Observation, Subgoal, Task, TraceStep } from '../contract.ts';
import { digestOf, sourceDigest } from '../kit/digests.ts';
import { openEnvironment } from './kit/environment.ts';
import { nextOracleAction } from './kit/oracle.ts';
import { type SandboxTask, tasksOf } from './kit/tasks.ts';
import { mailApp } from './mail/app.ts';
import { type SeedQuestion, seedQuestions } from './questions.ts';
import { shopApp } from './shop/app.ts';
import { trackerApp } from './tracker/app.ts';

export type { SeedQuestion } from './questions.ts';

export interface SandboxBenchmark extends Benchmark {
  /** Milestones for the rubric judge. Throws for a task of another benchmark. */
  rubric(taskId: string): readonly Subgoal[];
  readonly seedQuestions: readonly SeedQuestion[];
  /** What somebody who knows the solution does next, decided from role, name and context on the page. */
  oracleAction(task: Task, observation: Observation, history: readonly TraceStep[]): Action;
}

/** Three small web applications with seeded tasks; needs nothing but a loopback port per environment. */
export function createSandboxBenchmark(): SandboxBenchmark {
  const all = [...tasksOf(mailApp), ...tasksOf(shopApp), ...tasksOf(trackerApp)];
  const byId = new Map(all.map((entry) => [entry.task.id, entry]));
  const find = (taskId: string): SandboxTask => {
    const entry = byId.get(taskId);
    if (entry === undefined)
      throw new Error(`the sandbox has no task ${taskId}; its tasks are listed in Benchmark.tasks`);
    return entry;
  };
  const oracleAction: SandboxBenchmark['oracleAction'] = (task, observation, history) =>
    nextOracleAction(find(task.id), observation, history);
  return {
    name: 'sandbox',
    revision: revisionOf(all),
    resettable: true,
    clock: null,
    tasks: all.map((entry) => entry.task),
    open: async (task, signal) => openEnvironment(find(task.id), signal),
    grade: async (task, evidence) => find(task.id).grade(evidence),
    rubric: (taskId) => find(taskId).subgoals,
    seedQuestions,
    oracleAction,
    oracle: { kind: 'agent', act: oracleAction },
  };
}

/** Covers the sources of pages, commands and verifiers as well as the tasks made from them. */
function revisionOf(all: readonly SandboxTask[]): string {
  const sources = sourceDigest(new URL('.', import.meta.url));
  return digestOf([sources, all.map(({ content }) => content)]).slice(0, 16);
}

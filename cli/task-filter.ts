import type { Difficulty, Split, Task } from '../benchmarks/contract.ts';

export interface TaskFilter {
  readonly split?: Split;
  readonly app?: string;
  readonly difficulty?: Difficulty;
  /** Named subset of the benchmark. */
  readonly suite?: string;
}

/** Throws, naming what there is, for an app or a suite that there is not. */
export function filterTasks(
  tasks: readonly Task[],
  { split, app, difficulty, suite }: TaskFilter,
): readonly Task[] {
  const apps = [...new Set(tasks.map((task) => task.app))].sort();
  if (app !== undefined && !apps.includes(app))
    throw new Error(`no app named ${app}; there are: ${apps.join(', ')}`);
  const suites = [...new Set(tasks.flatMap((task) => task.suites ?? []))].sort();
  if (suite !== undefined && !suites.includes(suite))
    throw new Error(`no suite named ${suite}; there are: ${suites.join(', ') || 'none'}`);
  return tasks.filter(
    (task) =>
      (split === undefined || task.split === split) &&
      (app === undefined || task.app === app) &&
      (difficulty === undefined || task.difficulty === difficulty) &&
      (suite === undefined || (task.suites ?? []).includes(suite)),
  );
}

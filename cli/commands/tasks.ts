import type { Difficulty, Split, Task } from '../../benchmarks/contract.ts';
import { benchmarkNamed } from '../../workers/parts.ts';
import { counted } from '../report/numbers.ts';
import { table } from '../report/table.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';

export interface TaskFilter {
  readonly benchmark: string;
  readonly split?: Split;
  readonly app?: string;
  readonly difficulty?: Difficulty;
  /** Named subset of the benchmark. */
  readonly suite?: string;
}

/** Lists a benchmark's tasks; needs no store. Throws for a benchmark, an app or a suite that there is not. */
export function listTasks({ json = false, ...filter }: TaskFilter & { readonly json?: boolean }): void {
  const tasks = filterTasks(benchmarkNamed(filter.benchmark).tasks, filter);
  console.log(json ? jsonLine(tasks) : renderTasks(tasks, terminalPaint).join('\n'));
}

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

export function renderTasks(tasks: readonly Task[], paint: Paint): string[] {
  return [
    ...table(
      [
        { title: 'task', whole: true },
        ...['app', 'split', 'difficulty', 'instruction'].map((title) => ({ title })),
      ],
      tasks.map(({ id, app, split, difficulty, instruction }) => [id, app, split, difficulty, instruction]),
      paint,
    ),
    counted(tasks.length, 'task'),
  ];
}

import type { Task } from '../../benchmarks/contract.ts';
import { benchmarkNamed } from '../../workers/parts.ts';
import { counted } from '../report/numbers.ts';
import { table } from '../report/table.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';
import { filterTasks, type TaskFilter } from '../task-filter.ts';

interface ListOptions extends TaskFilter {
  readonly benchmark: string;
  readonly json?: boolean;
}

/** Lists a benchmark's tasks; needs no store. Throws for a benchmark, an app or a suite that there is not. */
export function listTasks({ benchmark, json = false, ...filter }: ListOptions): void {
  const tasks = filterTasks(benchmarkNamed(benchmark).tasks, filter);
  console.log(json ? jsonLine(tasks) : renderTasks(tasks, terminalPaint).join('\n'));
}

export function renderTasks(tasks: readonly Task[], paint: Paint): string[] {
  return [
    ...table(
      [
        { title: 'task', whole: true },
        ...['app', 'split', 'difficulty'].map((title) => ({ title })),
        { title: 'instruction', wraps: true },
      ],
      tasks.map(({ id, app, split, difficulty, instruction }) => [id, app, split, difficulty, instruction]),
      paint,
    ),
    counted(tasks.length, 'task'),
  ];
}

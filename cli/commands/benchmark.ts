import { benchmarkNamed } from '../../workers/parts.ts';
import type { Settings } from '../../workers/settings.ts';
import { type Diagnosis, diagnose, type Finding, isAsKnown } from '../benchmark-doctor/diagnose.ts';
import { examineTasks } from '../benchmark-doctor/examine.ts';
import { duration } from '../progress.ts';
import { counted } from '../report/numbers.ts';
import { table } from '../report/table.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';
import { withPool } from '../rollout/with-pool.ts';
import { filterTasks } from '../task-filter.ts';

export interface BenchmarkDoctorOptions {
  readonly app?: string;
  /** Tasks of one named subset only. */
  readonly suite?: string;
  /** The first so many of them. */
  readonly limit?: number;
  readonly json?: boolean;
}

const REPORT_EVERY = 100;

/**
 * Examines a benchmark's tasks with an agent that does nothing and one that knows the solution. Exit status 1 when
 * what it finds differs from what the tasks' caveats say.
 */
export async function diagnoseBenchmark(
  settings: Settings,
  name: string,
  options: BenchmarkDoctorOptions,
): Promise<void> {
  const benchmark = benchmarkNamed(name, settings);
  const tasks = filterTasks(benchmark.tasks, options).slice(0, options.limit);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const began = Date.now();
  const examined = await withPool(settings, say, (pool) =>
    examineTasks({
      ...{ benchmark, tasks, pool },
      signal: new AbortController().signal,
      onTask: (done, total) => {
        if (done % REPORT_EVERY === 0) say(`${done}/${total} tasks, ${duration(Date.now() - began)}`);
      },
    }),
  );
  const diagnosis = diagnose(examined);
  console.log(options.json ? jsonLine(diagnosis) : renderDiagnosis(diagnosis, terminalPaint).join('\n'));
  if (!isAsKnown(diagnosis)) process.exitCode = 1;
}

export function renderDiagnosis({ tasks, findings, notFound }: Diagnosis, paint: Paint): string[] {
  const rows = [
    ...findings.map(({ taskId, symptom, isKnown, message }): readonly string[] => [
      ...[taskId, symptom, isKnown ? 'known' : 'NEW', message],
    ]),
    ...notFound.map(({ taskId, symptom }) => [taskId, symptom, 'NOT FOUND', 'its caveat says so']),
  ];
  const columns = [{ title: 'task', whole: true }, { title: 'finding' }, { title: '' }, { title: 'because' }];
  return [
    ...(rows.length === 0 ? [] : table(columns, rows, paint)),
    `${counted(tasks, 'task')}, untouched and solved: ${summary(findings)}; ` +
      `${findings.filter(({ isKnown }) => !isKnown).length} new, ${notFound.length} known ones not found`,
  ];
}

function summary(findings: readonly Finding[]): string {
  const groups = [...Map.groupBy(findings, ({ symptom }) => symptom)];
  if (groups.length === 0) return 'all sound';
  return groups.map(([symptom, found]) => `${found.length} ${symptom}`).join(', ');
}

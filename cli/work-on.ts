import type { Settings } from '../workers/settings.ts';
import { findRun } from './find.ts';
import { follow } from './follow.ts';
import { renderRun } from './report/render-run.ts';
import { readRunReport } from './report/run-report.ts';
import { jsonLine, terminalPaint } from './report/terminal-text.ts';
import type { Place, StartedRun } from './start-run.ts';
import { withPlace, withWorkplace } from './workplace.ts';

export interface WorkOptions {
  /** Starts the run and leaves it to workers elsewhere. */
  readonly detach?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Starts a run, works on it until it ends and prints its report; or leaves it to others. */
export async function workOn(
  settings: Settings,
  { detach = false, json = false }: WorkOptions,
  start: (place: Place) => Promise<StartedRun>,
): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  if (detach) {
    const { run } = await withPlace(settings, say, start);
    console.log(
      json ? jsonLine({ id: run.id }) : `${run.id} is left to the workers; \`clift runs\` shows it`,
    );
    return;
  }
  await withWorkplace(settings, say, async (workplace) => {
    const started = await start(workplace);
    const { id, kind } = started.run;
    say(`${kind} run ${id}. Ctrl-C loses nothing: the same command continues.`);
    await follow(workplace, started, id);
    const report = await readRunReport(workplace.store, await findRun(workplace.store, id));
    console.log(json ? jsonLine(report) : renderRun(report, terminalPaint).join('\n'));
  });
}

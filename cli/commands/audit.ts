import type { Settings } from '../../workers/settings.ts';
import { findTask } from '../find.ts';
import { withStore } from '../open-store.ts';
import { renderAudit } from '../report/render-audit.ts';
import { readTaskAudit } from '../report/task-audit.ts';
import { jsonLine, terminalPaint } from '../report/terminal-text.ts';

interface Options {
  readonly json?: boolean;
  /** Also what pages, agents and models wrote. */
  readonly content?: boolean;
}

/** Shows one task's history across all runs. */
export async function audit(settings: Settings, taskId: string, options: Options): Promise<void> {
  const { json = false, content = false } = options;
  const history = await withStore(settings, async (store) =>
    readTaskAudit(store, await findTask(store, taskId), { content }),
  );
  console.log(json ? jsonLine(history) : renderAudit(history, terminalPaint).join('\n'));
}

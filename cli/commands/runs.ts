import type { Settings } from '../../workers/settings.ts';
import { withStore } from '../open-store.ts';
import { readRunOverviews, renderRunOverviews } from '../report/run-overview.ts';
import { jsonLine, terminalPaint } from '../report/terminal-text.ts';

/** Lists every run with its state, how far it is, and what it cost. */
export async function runs(settings: Settings, { json = false }: { json?: boolean }): Promise<void> {
  const overviews = await withStore(settings, readRunOverviews);
  console.log(json ? jsonLine(overviews) : renderRunOverviews(overviews, terminalPaint).join('\n'));
}

import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { BankStore } from '../../bank-store/contract.ts';
import { codeVersionsOf } from '../../workers/history-exporter.ts';
import {
  type ReplayCase,
  type ReplayResult,
  replayHistories,
  replayStored,
} from '../../workers/replay-histories.ts';
import type { Settings } from '../../workers/settings.ts';
import { runOfWorkflow } from '../../workflows/names.ts';
import { findRun } from '../find.ts';
import { table } from '../report/table.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';
import { withStack } from '../workplace.ts';

interface Options {
  readonly json?: boolean;
}

/**
 * Replays what workflows have recorded against the code of this checkout: the exported histories of a run, or those of
 * everything that is under way. Exit status 1 when one of them does not replay.
 */
export async function replay(settings: Settings, runId: string | undefined, options: Options): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  // A history that does not replay is a result, not a log line.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  const results = await withStack(settings, say, ({ store, client }) =>
    runId === undefined ? replayOpen(settings, client) : replayRun(settings, store, runId),
  );
  if (results.some(({ verdict }) => verdict !== 'replays')) process.exitCode = 1;
  console.log(options.json ? jsonLine(results) : renderReplay(results, terminalPaint).join('\n'));
}

async function replayRun(
  { projectDirectory }: Settings,
  store: BankStore,
  runId: string,
): Promise<readonly ReplayResult[]> {
  const { id } = await findRun(store, runId);
  return replayStored(projectDirectory, store.blobs, await store.historiesOf(id));
}

/** What an upgrade would have to go on with. */
async function replayOpen({ projectDirectory }: Settings, client: Client): Promise<readonly ReplayResult[]> {
  const open: ReplayCase[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    if (runOfWorkflow(workflowId) === null) continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    open.push({
      ...{ workflowId, codeVersions: codeVersionsOf(history) },
      history: JSON.parse(historyToJSON(history)),
    });
  }
  return replayHistories(projectDirectory, open);
}

const words: Readonly<Record<ReplayResult['verdict'], string>> = {
  replays: 'replays',
  other_version: 'recorded by another version',
  differs: 'differs from what this code decides',
  altered: 'altered since it was exported',
  missing: 'its blob is missing',
};

/** One line a history that does not replay, and the count of those that do. */
export function renderReplay(results: readonly ReplayResult[], paint: Paint): string[] {
  if (results.length === 0) return ['There is no history to replay.'];
  const wrong = results.filter(({ verdict }) => verdict !== 'replays');
  const count = `${results.length - wrong.length} of ${results.length} histories replay with this code`;
  if (wrong.length === 0) return [count];
  return [
    ...table(
      [{ title: 'workflow', whole: true }, { title: 'verdict', whole: true }, { title: 'detail' }],
      wrong.map(({ workflowId, verdict, detail }) => [workflowId, words[verdict], detail]),
      paint,
    ),
    '',
    count,
  ];
}

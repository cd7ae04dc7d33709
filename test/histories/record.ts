/**
 * `npm run record-histories [-- STORY…]`: plays every story, or those named, and writes what the server recorded into the folder of this
 * version. Folders of released versions stay as they are: their histories may still be running somewhere.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { z } from 'zod';
import { withStore } from '../../cli/open-store.ts';
import { choosePort, LOOPBACK } from '../../infra/ports.ts';
import { waitUntil } from '../../infra/processes.ts';
import { ensureTemporalCli } from '../../infra/temporal-cli.ts';
import { isTemporalAnswering } from '../../infra/temporal-namespace.ts';
import { childEnvironment, loadSettings, type Settings } from '../../workers/settings.ts';
import { runOfWorkflow } from '../../workflows/names.ts';
import { type House, openHouse } from '../workflows/scripted-house.ts';
import { type RecordedHistory, writeStory } from './files.ts';
import { EVENTS_PER_HISTORY, stories } from './scenarios.ts';

const settings = loadSettings();
const version = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(settings.projectDirectory, 'package.json'), 'utf8'))).version;
/** Of one story; the hundredth task of a suite tells nothing new. */
const KEPT_OF_A_KIND = 12;

const folder = join(import.meta.dirname, version);

const SANDBOX = ['sandbox-training', 'sandbox-evaluation'];
/** Stories named on the command line; without any, all are told anew. */
const named = process.argv.slice(2);
const isWanted = (story: string) => named.length === 0 || named.includes(story);

if (named.length === 0) rmSync(folder, { recursive: true, force: true });
if (Object.keys(stories).some(isWanted)) await recordStories();
if (SANDBOX.some(isWanted)) await recordSandbox();

/** On a server that asks for a new history early, so that recordings stay small. */
async function recordStories(): Promise<void> {
  const port = await choosePort(undefined);
  const server = await startServer(port);
  const house = await openHouse(`${LOOPBACK}:${port}`, 'recording');
  try {
    for (const [story, play] of Object.entries(stories)) {
      if (!isWanted(story)) continue;
      await play(house, story);
      const histories = await historiesOf(house, story);
      writeStory({ version, story, histories });
      console.log(`${story}: ${histories.map(describe).join(', ')}`);
    }
  } finally {
    await house.close();
    server.kill('SIGTERM');
  }
}

async function startServer(port: number): Promise<ChildProcess> {
  const program = await ensureTemporalCli(settings, console.error);
  const server = spawn(program, [
    ...[
      'server',
      'start-dev',
      '--ip',
      LOOPBACK,
      '--port',
      String(port),
      '--headless',
      '--log-level',
      'error',
    ],
    ...['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${EVENTS_PER_HISTORY}`],
  ]);
  if (await waitUntil(() => isTemporalAnswering({ address: `${LOOPBACK}:${port}` }), 60_000)) return server;
  throw new Error('the server that records did not start within a minute');
}

async function historiesOf(house: House, runId: string): Promise<readonly RecordedHistory[]> {
  const recorded: RecordedHistory[] = [];
  for (const { workflowId, runId: executionId, type, status } of await closedWorkflowsOf(house, runId)) {
    const history = await house.client.workflow.getHandle(workflowId, executionId).fetchHistory();
    recorded.push({
      ...{ workflowId, workflowType: type, status: status.name.toLowerCase() },
      history: JSON.parse(historyToJSON(history)),
    });
  }
  recorded.sort((left, right) => left.workflowId.localeCompare(right.workflowId));
  const kinds = Map.groupBy(recorded, ({ workflowType }) => workflowType);
  return [...kinds.values()].flatMap((alike) => alike.slice(0, KEPT_OF_A_KIND));
}

/** The server's list lags behind; every story ends with all its workflows closed. */
async function closedWorkflowsOf(
  { client }: House,
  runId: string,
): Promise<readonly WorkflowExecutionInfo[]> {
  for (;;) {
    await sleep(500);
    const workflows: WorkflowExecutionInfo[] = [];
    for await (const workflow of client.workflow.list()) {
      if (runOfWorkflow(workflow.workflowId) === runId) workflows.push(workflow);
    }
    if (workflows.length > 0 && workflows.every(({ status }) => status.name !== 'RUNNING')) return workflows;
  }
}

/** A small training run and an evaluation with its bank, on the sandbox: the histories that their workers exported. */
async function recordSandbox(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'clift-record-'));
  const config = ['--config', join(settings.projectDirectory, 'test/end-to-end/small.yaml')];
  try {
    await clift(home, 'train', ...config, '--name', 'sandbox-training');
    const trained = ['--bank', 'sandbox-training', '--adapter', 'sandbox-training'];
    await clift(home, 'evaluate', ...config, '--name', 'sandbox-evaluation', ...trained);
    for (const story of SANDBOX) {
      const histories = await exportedHistories(
        { ...settings, home, blobDirectory: join(home, 'blobs') },
        story,
      );
      writeStory({ version, story, histories });
      console.log(`${story}: ${histories.map(describe).join(', ')}`);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function clift(home: string, ...words: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['cli/main.ts', ...words], {
    cwd: settings.projectDirectory,
    env: childEnvironment({ CLIFT_HOME: home, CLIFT_CACHE: settings.cacheDirectory }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`clift ${words.join(' ')} ended with ${child.exitCode}`);
}

function exportedHistories(place: Settings, runId: string): Promise<readonly RecordedHistory[]> {
  return withStore(place, async (store) => {
    const recorded: RecordedHistory[] = [];
    for (const { workflowId, workflowType, status, digest } of await store.historiesOf(runId)) {
      const history = JSON.parse(gunzipSync(await store.blobs.get(digest)).toString());
      recorded.push({ workflowId, workflowType, status, history });
    }
    return recorded;
  });
}

function describe({ workflowType, status, history }: RecordedHistory): string {
  return `${workflowType} ${status} ${history.events.length}`;
}

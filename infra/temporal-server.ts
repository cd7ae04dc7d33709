import { join } from 'node:path';
import type { Settings } from '../workers/settings.ts';
import { homePaths } from './home.ts';
import { choosePort, isListening, LOOPBACK } from './ports.ts';
import {
  isAlive,
  readServerRecord,
  type ServerRecord,
  startDetached,
  stopProcess,
  tailOfLog,
  waitUntil,
  writeServerRecord,
} from './processes.ts';
import type { Report } from './report.ts';
import { ensureTemporalCli } from './temporal-cli.ts';
import { addSearchAttributes, isTemporalAnswering, raiseRetention } from './temporal-namespace.ts';

const START_TIMEOUT_MS = 60_000;
/** A busy server may be slow to answer; one that is silent for this long is hung and is replaced. */
const HUNG_AFTER_MS = 10_000;
const HUNG_GRACE_MS = 2000;
const STOP_GRACE_MS = 15_000;

export interface RunningServer {
  readonly port: number;
  /** False when it was already running for this home. */
  readonly startedByUs: boolean;
}

/** Makes Temporal's development server run for this home, with everything kept in one database file. */
export async function startTemporalServer(settings: Settings, report: Report): Promise<RunningServer> {
  const { temporalRecord } = homePaths(settings.home);
  const last = readServerRecord(temporalRecord);
  if (last && isAlive(last)) {
    if (await waitUntil(() => isAnswering(last), HUNG_AFTER_MS))
      return { port: last.port, startedByUs: false };
    await stopProcess(last, 'SIGTERM', HUNG_GRACE_MS);
  }
  const program = await ensureTemporalCli(settings, report);
  // A port that was free a moment ago may be taken when the server binds it: one more try with another.
  const record =
    (await launch(settings, program, last?.port)) ?? (await launch(settings, program, undefined));
  if (record === undefined) {
    throw new Error(`The Temporal server did not start.${tailOfLog(logPath(settings.home))}`);
  }
  await prepareNamespace(record.port, settings.temporalNamespace);
  return { port: record.port, startedByUs: true };
}

/** SIGTERM lets it close its database; ends nothing but the server that this home's record names. */
export async function stopTemporalServer(home: string): Promise<boolean> {
  const record = readServerRecord(homePaths(home).temporalRecord);
  if (!record || !isAlive(record)) return false;
  await stopProcess(record, 'SIGTERM', STOP_GRACE_MS);
  return true;
}

async function launch(
  settings: Settings,
  program: string,
  preferredPort: number | undefined,
): Promise<ServerRecord | undefined> {
  const port = await choosePort(preferredPort);
  const args = await serverArguments(settings, port);
  const identity = await startDetached({ command: program, args, logPath: logPath(settings.home) });
  const record = { ...identity, port };
  writeServerRecord(homePaths(settings.home).temporalRecord, record);
  const settled = await waitUntil(
    async () => !isAlive(record) || (await isAnswering(record)),
    START_TIMEOUT_MS,
  );
  if (!settled) await stopTemporalServer(settings.home);
  return settled && isAlive(record) ? record : undefined;
}

async function serverArguments(
  { home, temporalNamespace, temporalUi }: Settings,
  port: number,
): Promise<string[]> {
  const dynamicConfig = {
    // One partition: tasks of a queue are dispatched in order, and rate limits are not divided.
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
    'matching.enableFairness': true,
    // No request leaves the machine.
    'frontend.enableServerVersionCheck': false,
  };
  return [
    ...['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port), '--namespace', temporalNamespace],
    ...[
      '--db-filename',
      join(homePaths(home).temporal, 'temporal.db'),
      '--sqlite-pragma',
      'journal_mode=wal',
    ],
    ...['--log-level', 'warn', '--log-format', 'json'],
    ...(temporalUi ? ['--ui-port', String(await choosePort(undefined))] : ['--headless']),
    ...Object.entries(dynamicConfig).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
  ];
}

async function prepareNamespace(port: number, namespace: string): Promise<void> {
  const address = `${LOOPBACK}:${port}`;
  await raiseRetention(address, namespace);
  await addSearchAttributes({ address }, namespace);
}

async function isAnswering({ port }: ServerRecord): Promise<boolean> {
  return (await isListening(port)) && (await isTemporalAnswering({ address: `${LOOPBACK}:${port}` }));
}

function logPath(home: string): string {
  return join(homePaths(home).logs, 'temporal.log');
}

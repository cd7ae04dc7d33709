import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { runCommand } from './commands.ts';
import { type HomePaths, homePaths } from './home.ts';
import { choosePort, LOOPBACK } from './ports.ts';
import { type PostgresPlace, preparePostgresPlace } from './postgres-place.ts';
import { findOrphanedPostmaster, forgiveRecycledPid } from './postmaster-pid.ts';
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

const USER = 'clift';
const DATABASE = 'clift';
const INIT_TIMEOUT_MS = 120_000;
/** Long enough for crash recovery of a large write-ahead log. */
const START_TIMEOUT_MS = 60_000;
const HUNG_AFTER_MS = 10_000;
const HUNG_GRACE_MS = 2000;
const STOP_GRACE_MS = 30_000;
/** After a kill -9 the orphaned backends hold the shared memory until they notice. */
const START_ATTEMPTS = 8;
const ATTEMPT_PAUSE_MS = 500;

export interface RunningPostgres {
  readonly databaseUrl: string;
  readonly port: number;
  /** False when it was already running for this home. */
  readonly startedByUs: boolean;
}

/** Makes PostgreSQL run for this home; its data outlive it. */
export async function startPostgresServer(home: string): Promise<RunningPostgres> {
  const paths = homePaths(home);
  const place = await preparePostgresPlace(paths.postgres);
  await createCluster(place);
  const last = findServer(paths, place);
  if (last && isAlive(last)) {
    if (await waitUntil(() => isServing(place, last.port), HUNG_AFTER_MS))
      return running(place, last.port, false);
    await stopProcess(last, 'SIGINT', HUNG_GRACE_MS);
  }
  const record = await launch(paths, place, last?.port);
  await createDatabase(place, record.port);
  return running(place, record.port, true);
}

/** SIGINT is PostgreSQL's fast shutdown: open transactions are rolled back, data are flushed. */
export async function stopPostgresServer(home: string): Promise<boolean> {
  const record = readServerRecord(homePaths(home).postgresRecord);
  if (!record || !isAlive(record)) return false;
  await stopProcess(record, 'SIGINT', STOP_GRACE_MS);
  return true;
}

function running(place: PostgresPlace, port: number, startedByUs: boolean): RunningPostgres {
  return { databaseUrl: urlOf(place, port, DATABASE), port, startedByUs };
}

/** initdb works in a directory beside the real one, so that a killed one leaves nothing that looks whole. */
async function createCluster(place: PostgresPlace): Promise<void> {
  if (existsSync(dataOf(place))) return;
  const unfinished = `${dataOf(place)}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  writePassword(place);
  const args = [
    ...[
      '--pgdata',
      unfinished,
      '--username',
      USER,
      '--pwfile',
      passwordPath(place),
      '--auth',
      'scram-sha-256',
    ],
    // Built in: sorts the same on every machine, whatever locales it has.
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
  ];
  const { ok, failure } = await runCommand(
    join(place.programs, 'bin', 'initdb'),
    args,
    INIT_TIMEOUT_MS,
    place.user,
  );
  if (!ok) throw new Error(`PostgreSQL could not create its data directory: ${failure}`);
  renameSync(unfinished, dataOf(place));
}

function writePassword(place: PostgresPlace): void {
  writeFileSync(passwordPath(place), randomBytes(24).toString('hex'), { mode: 0o600 });
  if (place.user) chownSync(passwordPath(place), place.user.uid, place.user.gid);
}

/** The server that our record names, or one whose record was lost. */
function findServer(paths: HomePaths, place: PostgresPlace): ServerRecord | undefined {
  const recorded = readServerRecord(paths.postgresRecord);
  if (recorded && isAlive(recorded)) return recorded;
  const orphan = findOrphanedPostmaster(dataOf(place));
  if (orphan) writeServerRecord(paths.postgresRecord, orphan);
  return orphan ?? recorded;
}

async function launch(
  paths: HomePaths,
  place: PostgresPlace,
  preferredPort: number | undefined,
): Promise<ServerRecord> {
  const logPath = join(paths.logs, 'postgres.log');
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    forgiveRecycledPid(dataOf(place));
    const port = await choosePort(attempt === 0 ? preferredPort : undefined);
    const identity = await startDetached({
      command: join(place.programs, 'bin', 'postgres'),
      args: serverArguments(dataOf(place), port),
      logPath,
      ...(place.user && { user: place.user }),
    });
    const record = { ...identity, port };
    writeServerRecord(paths.postgresRecord, record);
    const settled = await waitUntil(
      async () => !isAlive(record) || (await isServing(place, port)),
      START_TIMEOUT_MS,
    );
    if (settled && isAlive(record)) return record;
    await stopProcess(record, 'SIGINT', STOP_GRACE_MS);
    await sleep(ATTEMPT_PAUSE_MS);
  }
  throw new Error(`PostgreSQL did not start.${tailOfLog(logPath)}`);
}

/** Small, for one machine; fsync and synchronous_commit stay on, since what is committed must survive a crash. */
function serverArguments(dataDirectory: string, port: number): string[] {
  const configuration = {
    listen_addresses: LOOPBACK,
    unix_socket_directories: '',
    max_connections: 100,
    shared_buffers: '64MB',
    // Nobody replicates from it.
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    max_wal_size: '512MB',
    io_method: 'sync',
    jit: 'off',
    timezone: 'UTC',
    log_checkpoints: 'off',
  };
  const flags = Object.entries(configuration).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  return ['-D', dataDirectory, '-p', String(port), ...flags];
}

/** Whether *our* server answers: only it knows the password, and it says which directory it serves. */
async function isServing(place: PostgresPlace, port: number): Promise<boolean> {
  try {
    const [row] = await query(place, port, 'SHOW data_directory');
    return row?.['data_directory'] === dataOf(place);
  } catch {
    return false;
  }
}

async function createDatabase(place: PostgresPlace, port: number): Promise<void> {
  const found = await query(place, port, `SELECT FROM pg_database WHERE datname = '${DATABASE}'`);
  if (found.length === 0) await query(place, port, `CREATE DATABASE ${DATABASE}`);
}

async function query(place: PostgresPlace, port: number, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({
    connectionString: urlOf(place, port, 'postgres'),
    connectionTimeoutMillis: 5000,
    query_timeout: 30_000,
  });
  // A server that goes down while we are connected is reported by the query itself.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function urlOf(place: PostgresPlace, port: number, database: string): string {
  return `postgres://${USER}:${readFileSync(passwordPath(place), 'utf8')}@${LOOPBACK}:${port}/${database}`;
}

function dataOf({ directory }: PostgresPlace): string {
  return join(directory, 'data');
}

function passwordPath({ directory }: PostgresPlace): string {
  return join(directory, 'password');
}

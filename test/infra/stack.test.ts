import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { homePaths } from '../../infra/home.ts';
import { LOOPBACK } from '../../infra/ports.ts';
import {
  commandLine,
  isAlive,
  readServerRecord,
  type ServerRecord,
  waitUntil,
} from '../../infra/processes.ts';
import { type Stack, startDatabase, startStack, stopStack } from '../../infra/stack.ts';
import { keepStack } from '../../infra/stack-users.ts';
import { firstOutput } from '../support/children.ts';
import { settingsForHome } from '../support/settings.ts';

const homes: string[] = [];

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'clift-stack-'));
  chmodSync(home, 0o755);
  homes.push(home);
  return home;
}

afterAll(async () => {
  for (const home of homes) {
    await stopStack(settingsForHome(home));
    rmSync(home, { recursive: true });
  }
});

function recordsOf(home: string): { temporal: ServerRecord; postgres: ServerRecord } {
  const { temporalRecord, postgresRecord } = homePaths(home);
  const temporal = readServerRecord(temporalRecord);
  const postgres = readServerRecord(postgresRecord);
  if (!temporal || !postgres) throw new Error('the stack left no record');
  return { temporal, postgres };
}

async function query(databaseUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function withTemporal<T>(stack: Stack, action: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect(stack.temporalConnection);
  try {
    return await action(new Client({ connection, namespace: stack.namespace }));
  } finally {
    await connection.close();
  }
}

async function kill(...records: ServerRecord[]): Promise<void> {
  for (const { pid } of records) process.kill(pid, 'SIGKILL');
  await waitUntil(() => !records.some(isAlive), 5000);
}

/** Pids of all processes whose arguments mention the home. */
function processesOf(home: string): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && commandLine(Number(pid)).includes(`${home}/`),
  );
}

const home = newHome();
let stack: Stack;
beforeAll(async () => {
  stack = await startStack(settingsForHome(home));
});

it('a second start finds the running servers and leaves them alone', async () => {
  const before = recordsOf(home);
  const again = await startStack(settingsForHome(home));
  expect(again.startedByUs).toEqual({ temporal: false, postgres: false });
  expect(again).toMatchObject({ temporalAddress: stack.temporalAddress, databaseUrl: stack.databaseUrl });
  await again.stop();
  expect(recordsOf(home)).toEqual(before);
  expect(await query(stack.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('the last user ends the servers, whoever started them, unless they are kept; a killed user counts for nothing', async () => {
  const shared = newHome();
  const settings = settingsForHome(shared);
  const [first, second] = [await startStack(settings), await startDatabase(settings)];
  const users = join(shared, 'run', 'users');
  writeFileSync(join(users, 'killed.json'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  const servers = Object.values(recordsOf(shared));
  await first.stop();
  expect(servers.every(isAlive)).toBe(true);
  await second.stop();
  expect(servers.some(isAlive)).toBe(false);

  const kept = await startStack(settings);
  keepStack(shared);
  const keptServers = Object.values(recordsOf(shared));
  await kept.stop();
  expect(keptServers.every(isAlive)).toBe(true);
  await stopStack(settings);
  expect(keptServers.some(isAlive)).toBe(false);
});

it('closed workflows are kept for 90 days, and our search attributes exist', async () => {
  await withTemporal(stack, async ({ connection, workflow }) => {
    const { config } = await connection.workflowService.describeNamespace({ namespace: stack.namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 3600);
    await workflow.start('anyWorkflow', {
      taskQueue: 'nobody',
      workflowId: 'searched',
      searchAttributes: { CliftRun: ['demo'], CliftTrainingStep: [7] },
    });
    const isFound = async () =>
      (await workflow.count("CliftRun = 'demo' AND CliftTrainingStep = 7")).count === 1;
    expect(await waitUntil(isFound, 10_000)).toBe(true);
  });
});

it('what is committed survives a kill -9 of both servers, which come back at the same addresses', async () => {
  await query(stack.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS value');
  await withTemporal(stack, ({ workflow }) =>
    workflow.start('anyWorkflow', { taskQueue: 'nobody', workflowId: 'kept' }),
  );
  const { temporal, postgres } = recordsOf(home);
  await kill(temporal, postgres);

  const restarted = await startStack(settingsForHome(home));
  expect(restarted.startedByUs).toEqual({ temporal: true, postgres: true });
  expect(restarted.temporalAddress).toBe(stack.temporalAddress);
  expect(restarted.databaseUrl).toBe(stack.databaseUrl);
  expect(await query(stack.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  const { status } = await withTemporal(stack, ({ workflow }) => workflow.getHandle('kept').describe());
  expect(status.name).toBe('RUNNING');
});

it('a server whose record was lost is found by its own lock file and not started a second time', async () => {
  const { postgres } = recordsOf(home);
  rmSync(homePaths(home).postgresRecord);
  const again = await startStack(settingsForHome(home));
  expect(again.startedByUs.postgres).toBe(false);
  expect(recordsOf(home).postgres).toEqual(postgres);
});

it('a server that is alive but answers nothing is replaced', async () => {
  const { postgres } = recordsOf(home);
  process.kill(postgres.pid, 'SIGSTOP');
  const again = await startStack(settingsForHome(home));
  expect(again.startedByUs.postgres).toBe(true);
  expect(isAlive(postgres)).toBe(false);
  expect(await query(again.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
});

it('a stale lock file of Postgres whose pid now belongs to a stranger does not stop the start or hurt the stranger', async () => {
  const { postgres } = recordsOf(home);
  const lockFile = join(home, 'postgres', 'data', 'postmaster.pid');
  const { uid, gid } = statSync(lockFile);
  await kill(postgres);
  const stranger = spawn('sleep', ['60'], { uid, gid });
  await once(stranger, 'spawn');
  const [, ...rest] = readFileSync(lockFile, 'utf8').split('\n');
  writeFileSync(lockFile, [stranger.pid, ...rest].join('\n'));

  const again = await startStack(settingsForHome(home));
  expect(again.startedByUs.postgres).toBe(true);
  expect(await query(again.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  stranger.kill('SIGKILL');
});

it('of two processes that start the same home at once, one starts the servers and both use them', async () => {
  const shared = newHome();
  const script = `
    const { startStack } = await import(${JSON.stringify(new URL('../../infra/stack.ts', import.meta.url).href)});
    const { temporalAddress, databaseUrl, startedByUs } = await startStack(JSON.parse(process.argv[1]));
    console.log(JSON.stringify({ temporalAddress, databaseUrl, startedByUs }));`;
  const starts = [1, 2].map(async () => {
    const args = ['--input-type=module', '-e', script, JSON.stringify(settingsForHome(shared))];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = await Promise.all([firstOutput(child), once(child, 'exit')]);
    return JSON.parse(output);
  });
  const [one, two] = await Promise.all(starts);
  expect([one.temporalAddress, one.databaseUrl]).toEqual([two.temporalAddress, two.databaseUrl]);
  expect([one, two].map(({ startedByUs }) => startedByUs.temporal).sort()).toEqual([false, true]);
  expect([one, two].map(({ startedByUs }) => startedByUs.postgres).sort()).toEqual([false, true]);
});

it('two homes run side by side; stopping one ends all its processes and none of the other; a port taken meanwhile is replaced', async () => {
  const other = newHome();
  const beside = await startStack(settingsForHome(other));
  expect(beside.temporalAddress).not.toBe(stack.temporalAddress);
  await query(beside.databaseUrl, 'CREATE TABLE beside AS SELECT 1 AS value');
  expect(processesOf(other).length).toBeGreaterThanOrEqual(2);

  await beside.stop();
  expect(await waitUntil(() => processesOf(other).length === 0, 5000)).toBe(true);
  expect(await query(stack.databaseUrl, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  expect(isAlive(recordsOf(home).temporal)).toBe(true);

  const squatter = createServer().listen(recordsOf(other).postgres.port, LOOPBACK);
  await once(squatter, 'listening');
  const moved = await startStack(settingsForHome(other));
  expect(moved.databaseUrl).not.toBe(beside.databaseUrl);
  expect(await query(moved.databaseUrl, 'SELECT value FROM beside')).toEqual([{ value: 1 }]);
  squatter.close();
});

it('the password is nobody else’s to read', () => {
  expect(statSync(join(home, 'postgres', 'password')).mode & 0o077).toBe(0);
});

it('a cluster that does not answer is an error that names its variables', async () => {
  const settings = { ...settingsForHome(newHome()), temporalConnection: { address: `${LOOPBACK}:1` } };
  await expect(startStack(settings)).rejects.toThrow(/127\.0\.0\.1:1.*TEMPORAL_ADDRESS/s);
  expect(processesOf(settings.home)).toEqual([]);
});

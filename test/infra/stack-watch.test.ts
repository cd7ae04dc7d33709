import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { homePaths } from '../../infra/home.ts';
import { LOOPBACK } from '../../infra/ports.ts';
import { isAlive, readServerRecord, type ServerRecord, waitUntil } from '../../infra/processes.ts';
import { type Stack, startStack, stopStack } from '../../infra/stack.ts';
import { watchStack } from '../../infra/stack-watch.ts';
import { settingsForHome } from '../support/settings.ts';

const home = mkdtempSync(join(tmpdir(), 'clift-watch-'));
const settings = settingsForHome(home);
const { temporalRecord, postgresRecord } = homePaths(home);
const said: string[] = [];
let stack: Stack;

beforeAll(async () => {
  stack = await startStack(settings);
});
afterAll(async () => {
  await stopStack(settings);
  rmSync(home, { recursive: true });
});

function recordAt(path: string): ServerRecord {
  const record = readServerRecord(path);
  if (record === undefined) throw new Error(`no record at ${path}`);
  return record;
}

const watched = () => {
  const watch = watchStack(settings, stack, (line) => said.push(line));
  onTestFinished(() => watch.stop());
  return watch;
};

const isBack = (path: string, { pid }: ServerRecord) => {
  const record = recordAt(path);
  return record.pid !== pid && isAlive(record);
};

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

test('servers killed under a running command come back by themselves, where they were, with all that was committed', async () => {
  watched();
  await query('create table kept as select 42 as value');
  const connection = await Connection.connect(stack.temporalConnection);
  onTestFinished(() => connection.close());
  const { workflow } = new Client({ connection, namespace: stack.namespace });
  await workflow.start('anyWorkflow', { taskQueue: 'nobody', workflowId: 'kept' });
  for (const path of [postgresRecord, temporalRecord]) {
    const victim = recordAt(path);
    expect(isAlive(victim)).toBe(true);
    process.kill(victim.pid, 'SIGKILL');
    expect(await waitUntil(() => isBack(path, victim), 60_000)).toBe(true);
    expect(recordAt(path).port).toBe(victim.port);
  }
  await expect
    .poll(() => query('select value from kept').catch(String), { timeout: 60_000 })
    .toEqual([{ value: 42 }]);
  const state = async () =>
    (
      await workflow
        .getHandle('kept')
        .describe()
        .catch(() => null)
    )?.status.name;
  await expect.poll(state, { timeout: 60_000 }).toBe('RUNNING');
  // The second one may be brought back by the same revival as the first, which says it once.
  expect(said.join()).toContain('PostgreSQL ended unexpectedly');
});

test('a server whose port was taken meanwhile ends the command, with a way on', async () => {
  const victim = recordAt(postgresRecord);
  process.kill(victim.pid, 'SIGKILL');
  await waitUntil(() => !isAlive(victim), 5_000);
  const squatter = createServer().listen(victim.port, LOOPBACK);
  onTestFinished(() => void squatter.close());
  await once(squatter, 'listening');
  await expect(watched().failed).rejects.toThrow('start the same command again');
});

test('a namespace that the cluster does not have is an error that names its variable', async () => {
  const elsewhere = {
    ...settings,
    temporalConnection: { address: inject('temporalAddress') },
    temporalNamespace: 'nowhere',
  };
  await expect(startStack(elsewhere)).rejects.toThrow(/namespace nowhere.*TEMPORAL_NAMESPACE/s);
});

import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../bank-store/database.ts';
import { NotFound, StoredDataInvalid, StoreUnavailable } from '../../bank-store/errors.ts';
import { createStorePlace } from './fixtures.ts';

const { databaseUrl } = await createStorePlace();
const database = openDatabase({ databaseUrl, poolSize: 4, statementTimeoutMs: 500 });
afterAll(() => database.close());

const count = z.object({ n: z.int() });

test('a server that refuses connections is unavailable, which is retryable', async () => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((closed) => server.close(closed));
  const nowhere = openDatabase({ databaseUrl: `postgres://nobody@127.0.0.1:${port}/nothing` });
  const failure = await nowhere.execute('select 1').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailable);
  expect(failure).toMatchObject({ name: 'StoreUnavailable', retryable: true });
  await nowhere.close();
});

test('a server that accepts connections and says nothing is unavailable after the connection timeout', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const silent = openDatabase({
    databaseUrl: `postgres://nobody@127.0.0.1:${port}/nothing`,
    connectionTimeoutMs: 200,
  });
  await expect(silent.execute('select 1')).rejects.toThrow(StoreUnavailable);
  await silent.close();
  server.close();
});

test('a connection that falls silent in the middle of a query is unavailable soon after the longest statement', async () => {
  const { port, hostname } = new URL(databaseUrl);
  let isSilent = false;
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.on('data', (bytes) => isSilent || server.write(bytes)).on('error', () => server.destroy());
    server.on('data', (bytes) => client.write(bytes)).on('error', () => client.destroy());
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
  const address = relay.address();
  const through = new URL(databaseUrl);
  through.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  const relayed = openDatabase({ databaseUrl: through.href, statementTimeoutMs: 100 });
  await relayed.execute('select 1');
  isSilent = true;
  await expect(relayed.execute('select 1')).rejects.toThrow(StoreUnavailable);
  isSilent = false;
  expect(await relayed.execute('select 1')).toBe(1);
  await relayed.close();
  relay.close();
}, 30_000);

test('a connection killed inside a transaction makes the store unavailable, writes nothing, and is replaced', async () => {
  await database.execute('create table killed (id integer)');
  const failure = database.transaction(async (session) => {
    await session.execute('insert into killed values (1)');
    await session.rows(z.unknown(), 'select pg_terminate_backend(pg_backend_pid())');
  });
  await expect(failure).rejects.toThrow(StoreUnavailable);
  expect(await database.rows(count, 'select count(*)::integer as n from killed')).toEqual([{ n: 0 }]);
});

test('an idle connection that dies does not end the process', async () => {
  await database.execute('select 1');
  const other = openDatabase({ databaseUrl });
  await other.rows(
    z.unknown(),
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'idle'`,
  );
  await sleep(50);
  expect(await database.rows(count, 'select 1 as n')).toEqual([{ n: 1 }]);
  await other.close();
});

test('a statement that takes too long is unavailable, not waited for', async () => {
  await expect(database.execute('select pg_sleep(5)')).rejects.toThrow(StoreUnavailable);
});

test('a disk that is full where the database is makes the store unavailable, keeps nothing by halves, and can be retried', async () => {
  await database.execute('create table full_disk (id integer)');
  await database.execute(`create function refuse_when_full() returns trigger language plpgsql as $$ begin
    if new.id = 2 then raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
    end if; return new; end $$`);
  await database.execute(
    'create trigger disk_full before insert on full_disk for each row execute function refuse_when_full()',
  );
  const write = () =>
    database.transaction(async (session) => {
      await session.execute('insert into full_disk values (1)');
      await session.execute('insert into full_disk values (2)');
    });
  await expect(write()).rejects.toThrow(StoreUnavailable);
  await expect(write()).rejects.toThrow('No space left on device');
  expect(await database.rows(count, 'select count(*)::integer as n from full_disk')).toEqual([{ n: 0 }]);
  await database.execute('drop trigger disk_full on full_disk');
  await write();
  expect(await database.rows(count, 'select count(*)::integer as n from full_disk')).toEqual([{ n: 2 }]);
});

test('transactions that deadlock both commit in the end', async () => {
  await database.execute('create table pair (id integer primary key, n integer not null)');
  await database.execute('insert into pair values (1, 0), (2, 0)');
  const patient = openDatabase({ databaseUrl });
  let runs = 0;
  const add = (ids: readonly number[]) =>
    patient.transaction(async (session) => {
      runs += 1;
      for (const id of ids) {
        await session.execute('update pair set n = n + 1 where id = $1', [id]);
        await sleep(100);
      }
    });
  await Promise.all([add([1, 2]), add([2, 1])]);
  expect(runs).toBeGreaterThan(2);
  expect(await patient.rows(count, 'select n from pair order by id')).toEqual([{ n: 2 }, { n: 2 }]);
  await patient.close();
});

test('work that throws leaves no trace, and its error comes through', async () => {
  await database.execute('create table undone (id integer)');
  const failure = database.transaction(async (session) => {
    await session.execute('insert into undone values (1)');
    throw new RangeError('no');
  });
  await expect(failure).rejects.toThrow(RangeError);
  expect(await database.rows(count, 'select count(*)::integer as n from undone')).toEqual([{ n: 0 }]);
});

test('a row that refers to nothing names what is missing', async () => {
  const failure = database.execute(`insert into task_lists values ('no such run', '${'a'.repeat(64)}')`);
  await expect(failure).rejects.toThrow(NotFound);
  await expect(failure).rejects.toThrow('no such run');
});

test('a stored row of another shape is refused, not passed on', async () => {
  await expect(database.rows(count, `select 'x' as n`)).rejects.toThrow(StoredDataInvalid);
});

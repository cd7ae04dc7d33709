import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeEach, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../bank-store/database.ts';
import { MigrationError } from '../../bank-store/errors.ts';
import { createBankStore } from '../../bank-store/index.ts';
import { type Migration, migrate, readMigrations } from '../../bank-store/migrate.ts';

const first: Migration = { number: 1, name: '000001_first.sql', sql: 'create table first (id integer)' };
const second: Migration = { number: 2, name: '000002_second.sql', sql: 'create table second (id integer)' };

const admin = new pg.Pool({ connectionString: inject('databaseUrl'), max: 1 });
const names: string[] = [];
let databaseUrl: string;

beforeEach(async () => {
  const name = `migrate_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`create database ${name}`);
  names.push(name);
  databaseUrl = Object.assign(new URL(inject('databaseUrl')), { pathname: `/${name}` }).href;
});

afterAll(async () => {
  for (const name of names) await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ databaseUrl });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const tables = (database: Database) =>
  database.rows(
    z.object({ name: z.string() }).transform(({ name }) => name),
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );

test('processes that start together apply each migration once', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, () => withDatabase((database) => migrate(database, [first, second]))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill('fulfilled'));
  expect(await withDatabase(tables)).toEqual(['first', 'schema_migrations', 'second']);
});

test('a migration that was changed after it had been applied is refused', async () => {
  await withDatabase(async (database) => {
    await migrate(database, [first]);
    const altered = { ...first, sql: 'create table first (id bigint)' };
    const failure = migrate(database, [altered, second]);
    await expect(failure).rejects.toThrow(MigrationError);
    await expect(failure).rejects.toThrow('000001_first.sql was changed after it had been applied');
    expect(await tables(database)).toEqual(['first', 'schema_migrations']);
  });
});

test('a database that newer code has migrated is refused', async () => {
  await withDatabase(async (database) => {
    await migrate(database, [first, second]);
    const failure = migrate(database, [first]);
    await expect(failure).rejects.toThrow(MigrationError);
    await expect(failure).rejects.toThrow(
      '000002_second.sql, which this code does not know: update the code',
    );
  });
});

test('a migration that fails leaves nothing behind, and those before it stay', async () => {
  await withDatabase(async (database) => {
    const broken = { ...second, sql: 'create table second (id integer); select 1 / 0' };
    await expect(migrate(database, [first, broken])).rejects.toThrow('division by zero');
    expect(await tables(database)).toEqual(['first', 'schema_migrations']);
    await migrate(database, [first, second]);
    expect(await tables(database)).toEqual(['first', 'schema_migrations', 'second']);
  });
});

test('the files are numbered from 1 without gaps', async () => {
  const migrations = await readMigrations();
  expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
  expect(migrations.length).toBeGreaterThan(0);
});

test('a store cannot be opened on a database of newer code, and holds no connection to it', async () => {
  const known = await readMigrations();
  const unknown = { ...second, number: known.length + 1, name: '999999_unknown.sql' };
  await withDatabase((database) => migrate(database, [...known, unknown]));
  const blobDirectory = join(tmpdir(), randomUUID());
  await expect(createBankStore({ databaseUrl, blobDirectory })).rejects.toThrow(MigrationError);
  const name = new URL(databaseUrl).pathname.slice(1);
  const connections = async () => {
    const { rows } = await admin.query(
      'select count(*)::integer as n from pg_stat_activity where datname = $1',
      [name],
    );
    return rows;
  };
  // A backend ends a moment after its client.
  await expect.poll(connections, { timeout: 10_000 }).toEqual([{ n: 0 }]);
  await rm(blobDirectory, { recursive: true, force: true });
});

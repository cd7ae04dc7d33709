import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { z } from 'zod';
import { toStorable } from './canonical-json.ts';
import { isDeadlock, translateDatabaseError } from './database-errors.ts';
import { NotFound, StoredDataInvalid } from './errors.ts';

export type Parameter = string | number | boolean | null | readonly string[];

/**
 * One place to run SQL: the pool, or a connection inside a transaction. Under a name a connection plans the statement
 * once: for those that run all day.
 */
export interface Session {
  /** Rows with camelCase names, parsed. */
  rows<S extends z.ZodType>(
    schema: S,
    sql: string,
    parameters?: readonly Parameter[],
    name?: string,
  ): Promise<readonly z.output<S>[]>;
  /** Number of rows written or found. */
  execute(sql: string, parameters?: readonly Parameter[], name?: string): Promise<number>;
}

export interface Database extends Session {
  /** READ COMMITTED; `work` runs again after a deadlock, so it must have no effects elsewhere. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseSettings {
  readonly databaseUrl: string;
  /** Connections of this process; PostgreSQL allows 100 in all by default. */
  readonly poolSize?: number;
  readonly connectionTimeoutMs?: number;
  /** Also bounds the wait for a lock. */
  readonly statementTimeoutMs?: number;
}

const TRANSACTION_TRIES = 5;
const ANSWER_MARGIN_MS = 5_000;

export function openDatabase(settings: DatabaseSettings): Database {
  const statementTimeoutMs = settings.statementTimeoutMs ?? 60_000;
  const pool = new pg.Pool({
    connectionString: settings.databaseUrl,
    max: settings.poolSize ?? 10,
    connectionTimeoutMillis: settings.connectionTimeoutMs ?? 10_000,
    statement_timeout: statementTimeoutMs,
    // A network that swallows everything lets no server answer, not even that it took too long.
    query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
    // A client whose process hangs must not hold its locks for ever.
    idle_in_transaction_session_timeout: statementTimeoutMs,
    application_name: 'clift',
  });
  // An idle connection that dies is replaced on next use; without a listener it would end the process.
  pool.on('error', () => undefined);

  return {
    ...sessionOn(pool),
    transaction: async (work) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await transactionOn(pool, work);
        } catch (error) {
          if (!isDeadlock(error) || attempt === TRANSACTION_TRIES) throw error;
          await sleep(Math.random() * 20 * 2 ** attempt);
        }
      }
    },
    close: () => pool.end(),
  };
}

async function transactionOn<T>(pool: pg.Pool, work: (session: Session) => Promise<T>): Promise<T> {
  const client = await translated(() => pool.connect());
  const { execute } = sessionOn(client);
  let broken: Error | undefined;
  // The pool listens only to idle clients.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await execute('begin');
    const result = await work(sessionOn(client));
    await execute('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

function sessionOn(client: pg.Pool | pg.PoolClient): Session {
  const query = (text: string, parameters: readonly Parameter[], name?: string) =>
    translated(() => client.query({ text, name, values: parameters.map(storableParameter) }));
  return {
    rows: async (schema, sql, parameters = [], name) => {
      const { rows } = await query(sql, parameters, name);
      return rows.map((row) => parseRow(schema, row));
    },
    execute: async (sql, parameters = [], name) => (await query(sql, parameters, name)).rowCount ?? 0,
  };
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/** The only row there should be. Throws `NotFound` with the sentence given. */
export function only<T>(rows: readonly T[], missing: string): T {
  const [row] = rows;
  if (row === undefined) throw new NotFound(missing);
  return row;
}

/** Inserts rows given with camelCase names, as they are or not at all where their key exists; returns how many. */
export async function insertRows(session: Session, table: string, rows: readonly object[]): Promise<number> {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = columnsOf(first);
  let inserted = 0;
  for (let from = 0; from < rows.length; from += INSERT_BATCH) {
    inserted += await session.execute(
      `insert into ${table} (${columns})
       select ${columns} from json_populate_recordset(null::${table}, $1) on conflict do nothing`,
      [jsonRows(rows.slice(from, from + INSERT_BATCH))],
    );
  }
  return inserted;
}

/** Column list of a row with camelCase names. */
export const columnsOf = (row: object) => Object.keys(row).map(snakeCase).join(', ');

/** Bounds the text of one statement; larger batches are not faster. */
export const INSERT_BATCH = 5_000;

/** Rows with camelCase names as the JSON text that `json_populate_recordset` takes. */
export const jsonRows = (rows: readonly object[]) =>
  JSON.stringify(
    rows.map((row, index) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          snakeCase(name),
          value === undefined ? null : toStorable(value, `row ${index}: ${name}`),
        ]),
      ),
    ),
  );

function storableParameter(parameter: Parameter): unknown {
  return Array.isArray(parameter) ? parameter.map((item) => toStorable(item)) : toStorable(parameter);
}

function parseRow<S extends z.ZodType>(schema: S, row: object): z.output<S> {
  const parsed = schema.safeParse(
    Object.fromEntries(Object.entries(row).map(([name, value]) => [camelCase(name), value])),
  );
  if (parsed.success) return parsed.data;
  throw new StoredDataInvalid(`a stored row does not have the expected shape: ${parsed.error.message}`);
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

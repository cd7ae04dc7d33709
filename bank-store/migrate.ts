import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Hex } from './canonical-json.ts';
import type { Database, Session } from './database.ts';
import { MigrationError } from './errors.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

const DIRECTORY = join(import.meta.dirname, 'migrations');

/** Any fixed number that no other program on the database uses. */
const LOCK = 0x636c6966;

/**
 * Brings the database to this code's state, one transaction a migration; processes that start together wait for
 * each other. Throws `MigrationError` if an applied migration has changed or is unknown to this code.
 */
export async function migrate(database: Database, migrations?: readonly Migration[]): Promise<void> {
  const known = migrations ?? (await readMigrations());
  if ((await pending(database, known)).length === 0) return;
  for (let done = false; !done; ) {
    done = await database.transaction((session) => applyNext(session, known));
  }
}

/** `NNNNNN_name.sql`, numbered from 1 without gaps. */
export async function readMigrations(directory = DIRECTORY): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 6));
      if (number !== index + 1) throw new MigrationError(`migration ${name} should have number ${index + 1}`);
      return { number, name, sql: await readFile(join(directory, name), 'utf8') };
    }),
  );
}

/** Returns true when nothing is left to do. */
async function applyNext(session: Session, known: readonly Migration[]): Promise<boolean> {
  await session.execute('select pg_advisory_xact_lock($1)', [LOCK]);
  await session.execute(
    `create table if not exists schema_migrations (
       number integer primary key,
       name text not null,
       checksum text not null,
       applied_at timestamptz not null default clock_timestamp()
     )`,
  );
  const [next] = await pending(session, known);
  if (next === undefined) return true;
  await session.execute(next.sql);
  await session.execute('insert into schema_migrations (number, name, checksum) values ($1, $2, $3)', [
    next.number,
    next.name,
    sha256Hex(next.sql),
  ]);
  return false;
}

const appliedRow = z.object({ number: z.int(), name: z.string(), checksum: z.string() });

async function pending(session: Session, known: readonly Migration[]): Promise<readonly Migration[]> {
  const [table] = await session.rows(
    z.object({ exists: z.boolean() }),
    `select to_regclass('schema_migrations') is not null as exists`,
  );
  if (table?.exists !== true) return known;
  const applied = await session.rows(
    appliedRow,
    'select number, name, checksum from schema_migrations order by number',
  );
  for (const { number, name, checksum } of applied) {
    const migration = known[number - 1];
    if (migration === undefined) {
      throw new MigrationError(
        `the database has migration ${name}, which this code does not know: update the code, or use another database`,
      );
    }
    if (sha256Hex(migration.sql) !== checksum) {
      throw new MigrationError(
        `migration ${migration.name} was changed after it had been applied as ${name}: restore the file and put the change into a new migration`,
      );
    }
  }
  return known.slice(applied.length);
}

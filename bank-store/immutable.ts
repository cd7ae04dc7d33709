import { z } from 'zod';
import { digestOf } from './canonical-json.ts';
import { insertRows, jsonRows, type Session } from './database.ts';
import { ContentConflict } from './errors.ts';

export interface ImmutableRows {
  readonly table: string;
  /** Columns that name a row, in snake_case. */
  readonly key: readonly string[];
  readonly rows: readonly object[];
  /** What to do about a conflict, a sentence. */
  readonly remedy: string;
}

/**
 * Inserts rows that never change; those that exist with the same content are left alone. Throws `ContentConflict`,
 * naming the first rows that exist with other content. Returns how many are new.
 */
export async function insertImmutable(
  session: Session,
  { table, key, rows, remedy }: ImmutableRows,
): Promise<number> {
  const digested = rows.map((row) => ({ ...row, contentDigest: digestOf(row) }));
  const inserted = await insertRows(session, table, digested);
  if (inserted === rows.length) return inserted;
  const conflicts = await session.rows(
    z.object({ name: z.string() }),
    `select concat_ws(' ', ${key.map((column) => `given.${column}`).join(', ')}) as name
       from json_populate_recordset(null::${table}, $1) given
       left join ${table} stored using (${key.join(', ')})
      where stored.content_digest is distinct from given.content_digest
      limit 5`,
    [jsonRows(digested)],
  );
  if (conflicts.length > 0) {
    const names = conflicts.map(({ name }) => `"${name}"`).join(', ');
    throw new ContentConflict(`${table} ${names} differ from what is stored: ${remedy}`);
  }
  return inserted;
}

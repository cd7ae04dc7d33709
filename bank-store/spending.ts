import { z } from 'zod';
import type { SpendingStore } from './contract.ts';
import { type Database, only, type Parameter } from './database.ts';

/** What has been paid, as the journal counts it: replies that were discarded cost money too. */
export function spendingStore(database: Database): SpendingStore {
  const dollars = async (sql: string, parameters: readonly Parameter[]) =>
    only(await database.rows(sumRow, sql, parameters), 'a sum has a row').costUsd;
  return {
    spentByRun: (runId) =>
      dollars(
        `select case when count(*) = 0 then 0 else min(cost_usd) end as cost_usd
           from run_spending where run_id = $1`,
        [runId],
      ),
    // The range lets the index find the few calls in question; '0' is the character after '/'.
    spentBy: (runId, owners) =>
      dollars(
        `select case when bool_or(cost_usd is null) then null else coalesce(sum(cost_usd), 0) end as cost_usd
           from unnest($2::text[]) as asked
           join model_calls on run_id = $1 and owner ~>=~ asked and owner ~<~ (asked || '0')
          where owner = asked or substr(owner, length(asked) + 1, 1) in ('/', '#')`,
        [runId, owners],
      ),
  };
}

const sumRow = z.object({ costUsd: z.number().nullable() });

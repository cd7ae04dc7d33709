/** What a run has spent and set aside, and the door that keeps the sum of both below its ceilings. */
import { z } from 'zod';
import type { Overrun, Spending, SpendingLimit } from './contract.ts';
import { only, type Parameter, type Session } from './database.ts';

/** The execution that money is set aside for: a condition on `model_calls` over its parameters. */
export interface Execution {
  readonly runId: string;
  readonly isThis: string;
  readonly parameters: readonly Parameter[];
}

/**
 * Sets `usd` aside for the execution, or returns the first limit that leaves no room for it. What was set aside is
 * free again when the execution ends or its lease runs out. Runs in a transaction.
 */
export async function reserve<Limit extends SpendingLimit>(
  session: Session,
  { runId, isThis, parameters }: Execution,
  usd: number,
  limits: readonly Limit[],
): Promise<Overrun<Limit> | null> {
  // One at a time for each run: two that see the same room must not both take it.
  await session.execute(`select pg_advisory_xact_lock(hashtextextended('spending of ' || $1, 0))`, [runId]);
  for (const limit of limits) {
    const { spentUsd, reservedUsd } = await spendingOf(session, runId, limit.owners);
    const isWithin = spentUsd !== null && spentUsd < limit.usd && spentUsd + reservedUsd + usd <= limit.usd;
    if (!isWithin) return { limit, spentUsd, reservedUsd };
  }
  const reserved = `reserved_usd = $${parameters.length + 1}`;
  await session.execute(`update model_calls set ${reserved} where ${isThis}`, [...parameters, usd]);
  return null;
}

const spendingRow = z.object({ spentUsd: z.number().nullable(), reservedUsd: z.number() });

/** In one statement: a call that ends meanwhile is counted as one or as the other. */
async function spendingOf(
  session: Session,
  runId: string,
  owners: readonly string[] | null,
): Promise<Spending> {
  const rows =
    owners === null
      ? await session.rows(spendingRow, ofRun, [runId])
      : await session.rows(spendingRow, ofOwners, [runId, owners]);
  return only(rows, 'a sum has a row');
}

const inFlight = 'sum(reserved_usd) filter (where lease_until > clock_timestamp())';

const ofRun = `
  select (select case when bool_or(cost_usd is null) then null else coalesce(sum(cost_usd), 0) end
            from run_spending where run_id = $1) as spent_usd,
         (select coalesce(${inFlight}, 0)
            from model_calls where run_id = $1 and reserved_usd is not null) as reserved_usd`;

/** The range lets the index find the few calls in question; '0' is the character after '/'. */
const ofOwners = `
  select case when bool_or(cost_usd is null) then null else coalesce(sum(cost_usd), 0) end as spent_usd,
         coalesce(${inFlight}, 0) as reserved_usd
    from unnest($2::text[]) as asked
    join model_calls on run_id = $1 and owner ~>=~ asked and owner ~<~ (asked || '0')
   where owner = asked or substr(owner, length(asked) + 1, 1) in ('/', '#')`;

/**
 * A provider's account as all workers together use it, by the database's clock: places as tickets with a lease,
 * requests and tokens per minute as buckets, and Retry-After as a time before which nobody sends.
 */
import { z } from 'zod';
import type { AccountLimits, Usage } from '../models/contract.ts';
import { type Database, only, type Session } from './database.ts';

/** Why a request may not go yet, in words for people, and in how many milliseconds it may; null: unknown. */
export interface Obstacle {
  readonly reason: string;
  readonly waitMs: number | null;
}

/** One request's place in the line of its account. */
export interface Ticket {
  /** Takes or keeps the place in line and goes through if it is this one's turn; else returns what is in the way. */
  tryToEnter(): Promise<Obstacle | null>;
  /** Says that its worker lives. */
  renew(): Promise<void>;
  /** Gives the place back; usage takes the place of what entering took, `retryAfterMs` closes the account. */
  leave(ended: { readonly usage: Usage | null; readonly retryAfterMs: number | null }): Promise<void>;
}

interface NewTicket {
  readonly id: string;
  readonly account: string;
  readonly limits: AccountLimits;
  /** Estimate of what the request will use. */
  readonly tokens: number;
  readonly leaseMs: number;
}

/** A provider that asks for more is asked again after this. */
const LONGEST_CLOSURE_MS = 3_600_000;

export function ticketOf(database: Database, ticket: NewTicket): Ticket {
  const { id, account, tokens, leaseMs } = ticket;
  return {
    tryToEnter: () => database.transaction((session) => tryToEnter(session, ticket)),
    renew: async () => {
      await database.execute(
        `update provider_tickets set lease_until = clock_timestamp() + $2 * interval '1 ms' where id = $1`,
        [id, leaseMs],
      );
    },
    leave: ({ usage, retryAfterMs }) =>
      database.transaction(async (session) => {
        const used = usage === null ? tokens : usage.inputTokens + usage.outputTokens;
        // The account first, as whoever enters does: two orders would deadlock.
        await session.execute(
          `update provider_accounts
              set tokens_used = greatest(0, tokens_used + case
                    when exists (select from provider_tickets where id = $4 and admitted)
                    then $2::double precision else 0 end),
                  closed_until = greatest(closed_until, clock_timestamp() + $3 * interval '1 ms')
            where account = $1`,
          [account, used - tokens, Math.min(retryAfterMs ?? 0, LONGEST_CLOSURE_MS), id],
        );
        await session.execute('delete from provider_tickets where id = $1', [id]);
      }),
  };
}

async function tryToEnter(session: Session, ticket: NewTicket): Promise<Obstacle | null> {
  const state = await lockAccount(session, ticket);
  const line = await standInLine(session, ticket);
  const obstacle = obstacleTo(ticket, state, line);
  if (obstacle !== null) return obstacle;
  await session.execute(
    `update provider_accounts set requests_used = requests_used + 1, tokens_used = tokens_used + $2
      where account = $1`,
    [ticket.account, ticket.tokens],
  );
  await session.execute('update provider_tickets set admitted = true where id = $1', [ticket.id]);
  return null;
}

// ---- what the database knows -------------------------------------------------------------------------------

const accountRow = z.object({ requestsUsed: z.number(), tokensUsed: z.number(), closedMs: z.number() });
type AccountState = z.output<typeof accountRow>;

/** Serialises all who want to enter until the transaction ends. */
async function lockAccount(session: Session, { account, limits }: NewTicket): Promise<AccountState> {
  const rows = await session.rows(
    accountRow,
    `insert into provider_accounts as held (account) values ($1)
     on conflict (account) do update
       set requests_used = greatest(0, held.requests_used - $2 * ${MS_SINCE_USE}),
           tokens_used = greatest(0, held.tokens_used - $3 * ${MS_SINCE_USE}),
           used_at = clock_timestamp()
     returning requests_used, tokens_used,
       greatest(0, extract(epoch from closed_until - clock_timestamp()) * 1000)::double precision as closed_ms`,
    [account, bucketOf(limits.requestsPerMinute).perMs, bucketOf(limits.tokensPerMinute).perMs],
  );
  return only(rows, `account ${account} cannot be locked`);
}

const MS_SINCE_USE = 'greatest(0, extract(epoch from clock_timestamp() - held.used_at) * 1000)';

const lineRow = z.object({ admitted: z.int(), ahead: z.int() });
type Line = z.output<typeof lineRow>;

/** Tickets of workers that died are removed on the way. */
async function standInLine(session: Session, { id, account, leaseMs }: NewTicket): Promise<Line> {
  await session.execute(
    `with dead as (delete from provider_tickets
                    where account = $2 and lease_until < clock_timestamp() and id <> $1)
     insert into provider_tickets (id, account, lease_until)
     values ($1, $2, clock_timestamp() + $3 * interval '1 ms')
     on conflict (id) do update set lease_until = excluded.lease_until`,
    [id, account, leaseMs],
  );
  const rows = await session.rows(
    lineRow,
    `select count(*) filter (where admitted)::integer as admitted,
            count(*) filter (where not admitted and place <
              (select place from provider_tickets where id = $2))::integer as ahead
       from provider_tickets where account = $1`,
    [account, id],
  );
  return only(rows, `account ${account} has no line`);
}

// ---- whose turn it is --------------------------------------------------------------------------------------

/**
 * Share of a minute's allowance that may go at once; the rest flows back over the minute. So no 60 seconds see more
 * than the limit, but for a single request that is larger than this share.
 */
const BURST = 0.1;

interface Bucket {
  readonly capacity: number;
  /** What flows back. */
  readonly perMs: number;
}

function bucketOf(perMinute: number | null): Bucket {
  // Without a limit whatever is taken is back at once.
  if (perMinute === null) return { capacity: Number.MAX_VALUE, perMs: Number.MAX_SAFE_INTEGER };
  return { capacity: Math.max(1, BURST * perMinute), perMs: ((1 - BURST) * perMinute) / 60_000 };
}

function obstacleTo(
  { limits, tokens }: NewTicket,
  { requestsUsed, tokensUsed, closedMs }: AccountState,
  { admitted, ahead }: Line,
): Obstacle | null {
  if (closedMs > 0) return { reason: 'the provider asked for a pause', waitMs: closedMs };
  if (ahead > 0) return { reason: `${ahead} requests are ahead`, waitMs: null };
  if (limits.concurrency !== null && admitted >= limits.concurrency) {
    return { reason: `all ${limits.concurrency} places are taken`, waitMs: null };
  }
  const requestsMs = msUntil(1, requestsUsed, bucketOf(limits.requestsPerMinute));
  if (requestsMs > 0) {
    return { reason: `${limits.requestsPerMinute} requests a minute are used up`, waitMs: requestsMs };
  }
  const tokensMs = msUntil(tokens, tokensUsed, bucketOf(limits.tokensPerMinute));
  if (tokensMs > 0) {
    return { reason: `${limits.tokensPerMinute} tokens a minute are used up`, waitMs: tokensMs };
  }
  return null;
}

/** Until `wanted` fits; what is larger than the whole bucket goes when that is empty. */
function msUntil(wanted: number, used: number, { capacity, perMs }: Bucket): number {
  return Math.max(0, used + Math.min(wanted, capacity) - capacity) / perMs;
}

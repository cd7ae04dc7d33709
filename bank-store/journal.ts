import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { canonicalJson, digestOf, sha256Hex } from './canonical-json.ts';
import type {
  BlobStore,
  FailedExecution,
  Journal,
  ModelCallKey,
  PaidReply,
  Purse,
  SpendingLimit,
} from './contract.ts';
import type { Database, Parameter } from './database.ts';
import { CallInFlight, StoreUnavailable } from './errors.ts';
import { callRow, claimRow, costsRow } from './schemas/rows.ts';
import { reserve } from './spending.ts';

export interface JournalSettings {
  /** How long after its owner's death a call may be taken over; renewed while the owner lives. */
  readonly callLeaseMs?: number;
  /** How long a call waits for another one with the same key and request. */
  readonly callWaitMs?: number;
}

const INLINE_BYTES = 4096;

export function journal(database: Database, blobs: BlobStore, settings: JournalSettings): Journal {
  const leaseMs = settings.callLeaseMs ?? 15_000;
  const waitMs = settings.callWaitMs ?? 300_000;

  return {
    callOnce: async (key, request, execute, signal) => {
      const call = callOf(database, blobs, key, digestOf(request));
      const deadline = Date.now() + waitMs;
      for (let pauseMs = 25; ; pauseMs = Math.min(1_000, pauseMs * 2)) {
        signal?.throwIfAborted();
        const holder = randomUUID();
        const claimed = await call.claim(holder, leaseMs);
        if (claimed !== null) return executeOnce(call, { ...claimed, holder, leaseMs }, execute);
        const stored = await call.stored();
        if (stored !== null) return stored.reply;
        if (Date.now() > deadline) {
          throw new CallInFlight(
            `${key.purpose} call ${key.ordinal} of "${key.owner}" has been executed elsewhere for more than ${waitMs} ms: try again later`,
          );
        }
        await sleep(pauseMs, undefined, { signal });
      }
    },
    callsOf: (runId, owner) =>
      database.rows(
        callRow,
        `select json_build_object('runId', run_id, 'purpose', purpose, 'owner', owner, 'ordinal', ordinal) as key,
                model_calls.*
           from model_calls where run_id = $1 and owner = $2 order by purpose, ordinal, started_at`,
        [runId, owner],
      ),
    replyTo: async ({ key, requestDigest }) =>
      (await callOf(database, blobs, key, requestDigest).stored())?.reply ?? null,
    costs: (runId) =>
      database.rows(
        costsRow,
        `select purpose, calls, input_tokens, output_tokens, cost_usd, lost_replies
           from costs where run_id = $1 order by purpose`,
        [runId],
      ),
  };
}

interface Claim {
  readonly holder: string;
  readonly leaseMs: number;
  readonly lostReplies: number;
}

/** Runs `execute` under the lease and returns what the journal keeps: the first reply that reached it. */
async function executeOnce(
  call: Call,
  { holder, leaseMs, lostReplies }: Claim,
  execute: (purse: Purse) => Promise<PaidReply | FailedExecution>,
): Promise<unknown> {
  const fail = async (failed: FailedExecution): Promise<never> => {
    // The caller needs to see this error, not that the journal could not note it.
    await call.fail(holder, failed).catch(() => undefined);
    throw failed.error;
  };
  // A renewal that fails only makes a takeover possible, and then the first reply wins.
  const renewal = setInterval(() => void call.renew(holder, leaseMs).catch(() => undefined), leaseMs / 3);
  try {
    const startedMs = performance.now();
    const reserve: Purse['reserve'] = (usd, limits) => call.reserve(holder, usd, limits);
    const ended = await execute({ lostReplies, reserve }).catch((error: unknown) => ({ ...free, error }));
    if ('error' in ended) return await fail(ended);
    const latencyMs = performance.now() - startedMs;
    return await call
      .complete(holder, ended, latencyMs)
      .catch((error: unknown) => fail({ ...free, spent: ended.cost, error }));
  } finally {
    clearInterval(renewal);
  }
}

const free = { spent: null, lostReply: false, isFault: false } as const;

type Call = ReturnType<typeof callOf>;

const storedReply = z.object({ reply: z.unknown(), isInline: z.boolean(), replyDigest: z.string() });

/** The journal's row of one (key, request digest). */
function callOf(database: Database, blobs: BlobStore, key: ModelCallKey, requestDigest: string) {
  const id = [key.runId, key.owner, key.purpose, key.ordinal, requestDigest];
  const isThis = 'run_id = $1 and owner = $2 and purpose = $3 and ordinal = $4 and request_digest = $5';
  const update = (set: string, condition: string, parameters: readonly Parameter[], name?: string) =>
    database.execute(
      `update model_calls set ${set} where ${isThis} and ${condition}`,
      [...id, ...parameters],
      name,
    );

  const stored = async (): Promise<{ readonly reply: unknown } | null> => {
    const [row] = await database.rows(
      storedReply,
      `select reply, reply is not null as is_inline, reply_digest from model_calls where ${isThis} and state = 'done'`,
      id,
    );
    if (row === undefined) return null;
    return { reply: row.isInline ? row.reply : await blobs.getJson(row.replyDigest) };
  };

  /**
   * Null unless the call is now ours to execute: it is new, has failed, or its owner died. Not flushed to disk: a
   * crash of the database that forgets a claim costs no more than one that cuts the call off.
   */
  const claim = async (holder: string, leaseMs: number): Promise<z.infer<typeof claimRow> | null> => {
    const [claimed = null] = await database.rows(
      claimRow,
      `with unflushed as (select set_config('synchronous_commit', 'off', true))
       insert into model_calls (run_id, owner, purpose, ordinal, request_digest, state, holder, lease_until)
       select $1, $2, $3, $4::integer, $5, 'running', $6::uuid, clock_timestamp() + $7 * interval '1 ms'
         from unflushed
       on conflict (run_id, owner, purpose, ordinal, request_digest) do update
         set state = 'running', holder = excluded.holder, lease_until = excluded.lease_until,
             reserved_usd = null, executions = model_calls.executions + 1
         where model_calls.state = 'failed'
            or (model_calls.state = 'running' and model_calls.lease_until < clock_timestamp())
       returning lost_replies - lost_before as lost_replies`,
      [...id, holder, leaseMs],
      'claim_model_call',
    );
    return claimed;
  };

  const counted = `input_tokens = input_tokens + $7, output_tokens = output_tokens + $8, cost_usd = cost_usd + $9`;

  /** Commits the reply before anybody uses it; a reply that comes second is paid for but not kept. */
  const complete = async (holder: string, execution: PaidReply, latencyMs: number): Promise<unknown> => {
    const { reply, cost, model } = execution;
    const text = canonicalJson(reply);
    const isInline = Buffer.byteLength(text) <= INLINE_BYTES;
    const replyDigest = isInline ? sha256Hex(text) : await blobs.putJson(reply);
    const report = cost.report === undefined ? null : canonicalJson(cost.report);
    const count = `replies = replies + 1, ${counted}`;
    const counts = [holder, cost.usage.inputTokens, cost.usage.outputTokens, cost.costUsd];
    const kept = await persist(() =>
      update(
        `${count}, state = 'done', holder = $6, lease_until = null, reserved_usd = null, ended_at = clock_timestamp(), error = null,
         reply_digest = $10, reply = $11, model = $12, latency_ms = $13, report = $14`,
        `state <> 'done'`,
        [...counts, replyDigest, isInline ? text : null, model, latencyMs, report],
        'complete_model_call',
      ),
    );
    if (kept === 1) return JSON.parse(text);
    const first = await stored();
    if (first === null) {
      // The database has crashed and forgotten the claim. What was paid for is kept all the same.
      await claim(holder, 0);
      return complete(holder, execution, latencyMs);
    }
    // Unless the first try of this very write went through and only its answer was lost. Comes last: whatever throws
    // before it leaves the cost to `fail`.
    await update(count, `holder <> $6`, counts);
    return first.reply;
  };

  return {
    stored,
    claim,
    complete,

    renew: (holder: string, leaseMs: number) =>
      update(`lease_until = clock_timestamp() + $7 * interval '1 ms'`, `state = 'running' and holder = $6`, [
        holder,
        leaseMs,
      ]),

    reserve: <Limit extends SpendingLimit>(holder: string, usd: number, limits: readonly Limit[]) => {
      const execution = {
        runId: key.runId,
        isThis: `${isThis} and state = 'running' and holder = $6`,
        parameters: [...id, holder],
      };
      return database.transaction((session) => reserve(session, execution, usd, limits));
    },

    /** What a failed execution has cost is counted also when it had been taken over. */
    fail: async (holder: string, { error, spent, lostReply, isFault }: FailedExecution): Promise<void> => {
      const { usage, costUsd } = spent ?? { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 };
      const count = `${counted}, lost_replies = lost_replies + $10::integer,
        lost_before = case when $11 then lost_replies + $10::integer else lost_before end`;
      const counts = [holder, usage.inputTokens, usage.outputTokens, costUsd, lostReply ? 1 : 0, isFault];
      const note = async () => {
        const ended = await update(
          `${count}, state = 'failed', error = $12, lease_until = null, reserved_usd = null, ended_at = clock_timestamp()`,
          `state = 'running' and holder = $6`,
          [...counts, String(error)],
        );
        if (ended === 0) await update(count, 'holder <> $6', counts);
      };
      await (spent !== null || lostReply ? persist(note) : note());
    },
  };
}

const PERSIST_PAUSES_MS = [100, 300, 1_000, 3_000, 9_000];

/** Money has been spent: a database that restarts must not cost it a second time. */
async function persist<T>(write: () => Promise<T>): Promise<T> {
  for (const pauseMs of PERSIST_PAUSES_MS) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await sleep(pauseMs);
    }
  }
  return write();
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FailedExecution, ModelCallKey } from '../../bank-store/contract.ts';
import { BlobMissing, CallInFlight } from '../../bank-store/index.ts';
import { firstOutput } from '../support/children.ts';
import { createStorePlace, digestOfNothing, run } from './fixtures.ts';
import { victimCall, victimRequest } from './victim-call.ts';

const place = await createStorePlace();
const [store, other] = await Promise.all([place.openStore(), place.openStore()]);
const admin = new pg.Pool({ connectionString: place.databaseUrl, max: 1 });
afterAll(() => admin.end());

let key: ModelCallKey;
let calls = 0;
beforeAll(async () => {
  await store.createRun(run);
});
beforeEach(() => {
  calls += 1;
  key = { runId: run.id, purpose: 'judge', owner: `group ${calls}`, ordinal: 0 };
});

const paid = (reply: unknown, costUsd: number | null = 0.25) => ({
  reply,
  cost: { usage: { inputTokens: 100, outputTokens: 10 }, costUsd },
  model: 'opus',
});

/** A model that counts how often it is asked, and how often at the same time. */
function model(reply: (execution: number) => unknown = (execution) => ({ execution })) {
  const seen = { executions: 0, atOnce: 0, mostAtOnce: 0 };
  return {
    seen,
    ask: async () => {
      seen.executions += 1;
      seen.atOnce += 1;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
      await sleep(20);
      seen.atOnce -= 1;
      return paid(reply(seen.executions));
    },
  };
}

test('a second call is answered from the journal, also after a restart', async () => {
  const { seen, ask } = model();
  expect(await store.callOnce(key, { prompt: 'p' }, ask)).toEqual({ execution: 1 });
  const restarted = await place.openStore();
  expect(await restarted.callOnce(key, { prompt: 'p' }, ask)).toEqual({ execution: 1 });
  expect(seen.executions).toBe(1);
});

test('however many ask at the same time, the model is asked once and all get its reply', async () => {
  const { seen, ask } = model();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).callOnce(key, { prompt: 'p' }, ask)),
  );
  expect(replies).toEqual(Array(20).fill({ execution: 1 }));
  expect(seen).toMatchObject({ executions: 1, mostAtOnce: 1 });
});

test('the reply is committed before anybody has it', async () => {
  await store.callOnce(key, 1, async () => paid('reply'));
  const { rows } = await admin.query('select reply from model_calls where owner = $1', [key.owner]);
  expect(rows).toEqual([{ reply: 'reply' }]);
});

test('the first caller gets what a later one will get: what JSON keeps of the reply', async () => {
  const first = await store.callOnce(key, 1, async () => paid({ gone: undefined, zero: -0, text: 'a\0' }));
  expect(first).toStrictEqual({ zero: 0, text: 'a\ufffd' });
  expect(await other.callOnce(key, 1, async () => paid('never'))).toStrictEqual(first);
});

test.each([null, '', 0, false, [], { large: 'x'.repeat(5_000) }, 'é'.repeat(2_048), 'é'.repeat(2_047)])(
  'any JSON is a reply, inline or as a blob: case %#',
  async (reply) => {
    expect(await store.callOnce(key, 1, async () => paid(reply))).toEqual(reply);
    expect(await other.callOnce(key, 1, async () => paid('never'))).toEqual(reply);
    const { rows } = await admin.query('select reply is null as blob from model_calls where owner = $1', [
      key.owner,
    ]);
    expect(rows).toEqual([{ blob: Buffer.byteLength(JSON.stringify(reply)) > 4096 }]);
    const [record] = await store.callsOf(run.id, key.owner);
    if (rows[0]?.blob) expect(await store.blobs.getJson(record?.replyDigest ?? '')).toEqual(reply);
  },
);

test('equal requests are one call whatever the order of their fields; another request is another call, and shows', async () => {
  const { seen, ask } = model();
  await store.callOnce(key, { a: 1, b: 2 }, ask);
  await store.callOnce(key, { b: 2, a: 1 }, ask);
  expect(seen.executions).toBe(1);
  expect(await store.callOnce(key, { a: 1, b: 3 }, ask)).toEqual({ execution: 2 });
  const records = await store.callsOf(run.id, key.owner);
  expect(records.map((record) => record.key)).toEqual([key, key]);
  expect(new Set(records.map(({ requestDigest }) => requestDigest)).size).toBe(2);
});

test('purpose, owner, ordinal and run each make another call', async () => {
  const { seen, ask } = model();
  await store.createRun({ ...run, id: 'run-2' });
  const keys = [
    key,
    { ...key, purpose: 'grader' },
    { ...key, owner: `${key.owner}'` },
    { ...key, ordinal: 1 },
  ] as const;
  for (const each of [...keys, { ...key, runId: 'run-2' }]) await store.callOnce(each, 1, ask);
  expect(seen.executions).toBe(5);
});

test('a failed call is recorded with its error, rethrown as it was, and tried again next time', async () => {
  const failure = new RangeError('rate limited\0');
  const attempt = store.callOnce(key, 1, () => Promise.reject(failure));
  await expect(attempt).rejects.toBe(failure);
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([
    {
      state: 'failed',
      executions: 1,
      replies: 0,
      error: 'RangeError: rate limited\ufffd',
      replyDigest: null,
    },
  ]);
  expect(await other.callOnce(key, 1, async () => paid('second'))).toBe('second');
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([
    { state: 'done', executions: 2, replies: 1, error: null, model: 'opus' },
  ]);
});

test('those who wait for a call that fails try it themselves, one at a time', async () => {
  const { seen, ask } = model((execution) => {
    if (execution <= 3) throw new Error(`failure ${execution}`);
    return execution;
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => (index % 2 ? store : other).callOnce(key, 1, ask)),
  );
  expect(seen).toMatchObject({ executions: 4, mostAtOnce: 1 });
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') expect(outcome.value).toBe(4);
});

test('whatever fails and whoever asks when, no more than one reply is ever paid for', async () => {
  const schedule = fc.array(fc.record({ waitMs: fc.nat({ max: 60 }), isFirstStore: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(schedule, fc.nat({ max: 3 }), fc.uuid(), async (callers, failures, owner) => {
      const { seen, ask } = model((execution) => {
        if (execution <= failures) throw new Error('failure');
        return execution;
      });
      const outcomes = await Promise.allSettled(
        callers.map(async ({ waitMs, isFirstStore }) => {
          await sleep(waitMs);
          return (isFirstStore ? store : other).callOnce({ ...key, owner }, 1, ask);
        }),
      );
      const replies = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(seen.mostAtOnce).toBe(1);
      expect(seen.executions).toBe(Math.min(callers.length, failures + 1));
      expect(replies).toEqual(Array(Math.max(0, callers.length - failures)).fill(failures + 1));
    }),
    { numRuns: 15 },
  );
});

test('a call whose process is killed is taken over once its lease ran out, and not before', async () => {
  const leaseMs = 1_500;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'journal-victim.ts'), place.databaseUrl, place.blobDirectory, String(leaseMs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await firstOutput(child);
  const { seen, ask } = model();
  const waiting = store.callOnce(victimCall, victimRequest, ask);
  await sleep(2 * leaseMs);
  expect(seen.executions).toBe(0);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exit).toEqual([null, 'SIGKILL']);
  expect(await waiting).toEqual({ execution: 1 });
  expect(await store.callsOf(run.id, victimCall.owner)).toMatchObject([
    { executions: 2, replies: 1, state: 'done' },
  ]);
});

test('a caller does not wait for ever, and is told for whom it waited', async () => {
  const impatient = await place.openStore({ callWaitMs: 100 });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof paid>>();
  const slow = store.callOnce(key, 1, () => promise);
  await sleep(50);
  const failure = impatient.callOnce(key, 1, async () => paid('never'));
  await expect(failure).rejects.toThrow(CallInFlight);
  await expect(failure).rejects.toThrow(`judge call 0 of "${key.owner}"`);
  resolve(paid('late'));
  expect(await slow).toBe('late');
});

test('an owner that comes back after it was taken over returns the reply that came first, and both are paid', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof paid>>();
  const zombie = store.callOnce(key, 1, () => promise);
  await sleep(50);
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = $1`, [key.owner]);
  expect(await other.callOnce(key, 1, async () => paid('first', 1))).toBe('first');
  resolve(paid('second', 2));
  expect(await zombie).toBe('first');
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([
    { executions: 2, replies: 2, costUsd: 3, inputTokens: 200, outputTokens: 20 },
  ]);
});

test('a reply whose claim the database forgot in a crash is kept all the same, and paid once', async () => {
  const forgetful = store.callOnce(key, 1, async () => {
    await admin.query('delete from model_calls where owner = $1', [key.owner]);
    return paid('kept', 2);
  });
  expect(await forgetful).toBe('kept');
  expect(await other.callOnce(key, 1, async () => paid('never'))).toBe('kept');
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([{ replies: 1, costUsd: 2, state: 'done' }]);
});

test('a reply that JSON cannot hold fails the call instead of being changed', async () => {
  await expect(store.callOnce(key, 1, async () => paid({ score: Number.NaN }))).rejects.toThrow(
    '$.score is NaN',
  );
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([{ state: 'failed' }]);
});

test('what came back beside the kept reply is kept with it', async () => {
  const report = {
    ...{ provider: 'anthropic', model: 'opus-20260205', finishReason: 'end_turn' },
    parameters: { temperature: 0.7, seed: null, tokenIds: false, schema: 'vote' },
    flags: ['asks to be obeyed'],
  };
  await store.callOnce(key, 1, async () => {
    const call = paid('reply');
    return { ...call, cost: { ...call.cost, report } };
  });
  await store.callOnce({ ...key, ordinal: 1 }, 1, async () => paid('from code'));
  expect(await store.callsOf(run.id, key.owner)).toMatchObject([{ model: 'opus', report }, { report: null }]);
});

test('costs add up by purpose, and one unknown price makes the sum unknown', async () => {
  await store.createRun({ ...run, id: 'costly' });
  const call = (purpose: ModelCallKey['purpose'], ordinal: number, costUsd: number | null) =>
    store.callOnce({ runId: 'costly', purpose, owner: 'o', ordinal }, 1, async () => paid(1, costUsd));
  await Promise.all([
    call('judge', 0, 0.5),
    call('judge', 1, 0.25),
    call('selector', 0, 1),
    call('selector', 1, null),
  ]);
  await call('grader', 0, 0);
  const failing = { runId: 'costly', purpose: 'proposer', owner: 'o', ordinal: 0 } as const;
  await expect(store.callOnce(failing, 1, () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  const tokens = (calls: number) => ({
    ...{ calls, inputTokens: 100 * calls, outputTokens: 10 * calls },
    lostReplies: 0,
  });
  expect(await store.costs('costly')).toEqual([
    { purpose: 'grader', ...tokens(1), costUsd: 0 },
    { purpose: 'judge', ...tokens(2), costUsd: 0.75 },
    { purpose: 'proposer', ...tokens(0), costUsd: 0 },
    { purpose: 'selector', ...tokens(2), costUsd: null },
  ]);
});

// ---- executions that cost money and gave no reply ---------------------------------------------------------------

const lost = { error: new Error('cut'), spent: null, lostReply: true, isFault: false };

/** Ends each execution as told, one after the other, and returns how many lost replies each was told of. */
async function failing(...ends: readonly Partial<FailedExecution>[]): Promise<readonly number[]> {
  const toldOf: number[] = [];
  for (const end of ends) {
    const failed = store.callOnce(key, 1, async ({ lostReplies }) => {
      toldOf.push(lostReplies);
      return { ...lost, ...end };
    });
    await expect(failed).rejects.toBe(end.error ?? lost.error);
  }
  return toldOf;
}

const record = async () => (await store.callsOf(run.id, key.owner))[0];

test('each execution is told how many before it lost a reply; other failures neither count nor begin the count anew', async () => {
  const other = { lostReply: false, error: new Error('HTTP 503') };
  expect(await failing({}, other, {}, {}, other)).toEqual([0, 1, 1, 2, 3]);
  expect(await record()).toMatchObject({ state: 'failed', executions: 5, replies: 0, lostReplies: 3 });
  expect((await record())?.error).toBe('Error: HTTP 503');
});

test('after a fault lost replies are counted anew, and all of them stay on record', async () => {
  expect(await failing({}, {}, { isFault: true }, {}, {})).toEqual([0, 1, 2, 0, 1]);
  expect(await record()).toMatchObject({ lostReplies: 5 });
});

test('an execution that throws, or whose worker died, has lost no reply', async () => {
  await failing({});
  await expect(store.callOnce(key, 1, () => Promise.reject(new Error('off')))).rejects.toThrow('off');
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof paid>>();
  const dead = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.executions).toBe(3);
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = $1`, [key.owner]);
  expect(await failing({})).toEqual([1]);
  resolve(paid('late'));
  await dead;
});

test('requests for other calls have counts of their own', async () => {
  await failing({}, {});
  const toldOf = await store.callOnce(key, 'another', async ({ lostReplies }) => paid(lostReplies));
  expect(toldOf).toBe(0);
});

test('what failed executions are known to have cost adds up with what the reply cost', async () => {
  const spent = { usage: { inputTokens: 7, outputTokens: 3 }, costUsd: 0.5 };
  await failing({ spent }, { spent, lostReply: false }, {});
  expect(await record()).toMatchObject({ replies: 0, inputTokens: 14, outputTokens: 6, costUsd: 1 });
  await store.callOnce(key, 1, async () => paid('reply'));
  const costs = { replies: 1, inputTokens: 114, outputTokens: 16, costUsd: 1.25, lostReplies: 2 };
  expect(await record()).toMatchObject({ ...costs, state: 'done', error: null });
});

test('an unknown price of a failed execution leaves the cost of the call unknown', async () => {
  await failing({ spent: { usage: { inputTokens: 7, outputTokens: 3 }, costUsd: null } });
  await store.callOnce(key, 1, async () => paid('reply'));
  expect(await record()).toMatchObject({ inputTokens: 107, costUsd: null });
});

test('an execution that fails after it was taken over is counted too, and takes nothing from its successor', async () => {
  const { promise, resolve } = Promise.withResolvers<FailedExecution>();
  const zombie = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.state).toBe('running');
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = $1`, [key.owner]);
  expect(await other.callOnce(key, 1, async () => paid('first', 1))).toBe('first');
  resolve({ ...lost, spent: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 2 } });
  await expect(zombie).rejects.toBe(lost.error);
  expect(await record()).toMatchObject({
    state: 'done',
    replies: 1,
    costUsd: 3,
    lostReplies: 1,
    error: null,
  });
});

test('a fault counts lost replies anew also when its execution had been taken over', async () => {
  await failing({}, {});
  const { promise, resolve } = Promise.withResolvers<FailedExecution>();
  const zombie = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.state).toBe('running');
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = $1`, [key.owner]);
  expect(await failing({ lostReply: false })).toEqual([2]);
  resolve({ ...lost, isFault: true });
  await expect(zombie).rejects.toBe(lost.error);
  expect(await failing({})).toEqual([0]);
  expect(await record()).toMatchObject({ lostReplies: 4 });
});

test('a reply that comes second is counted once, also where the first one cannot be read', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof paid>>();
  const zombie = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.state).toBe('running');
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = $1`, [key.owner]);
  await other.callOnce(key, 1, async () => paid('y'.repeat(9_000), 1));
  await admin.query('update model_calls set reply_digest = $2 where owner = $1', [
    key.owner,
    digestOfNothing('a'),
  ]);
  resolve(paid('late', 2));
  await expect(zombie).rejects.toThrow(BlobMissing);
  expect(await record()).toMatchObject({ state: 'done', costUsd: 3, inputTokens: 200 });
});

test.each([
  ['lost a reply', {}, { lostReplies: 1 }],
  [
    'cost money',
    { spent: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 2 }, lostReply: false },
    { costUsd: 2 },
  ],
])('an execution that %s is on record also when the database is away for a moment', async (_, end, noted) => {
  const { promise, resolve } = Promise.withResolvers<FailedExecution>();
  const failed = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.state).toBe('running');
  const locker = new pg.Client({ connectionString: place.databaseUrl });
  onTestFinished(() => locker.end());
  await locker.connect();
  await locker.query('begin');
  await locker.query('select from model_calls where owner = $1 for update', [key.owner]);
  resolve({ ...lost, ...end });
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock' and query like 'update model_calls%'`;
  await expect.poll(async () => (await admin.query(kill)).rowCount).toBe(1);
  await locker.query('commit');
  await expect(failed).rejects.toBe(lost.error);
  expect(await record()).toMatchObject({ state: 'failed', ...noted });
});

test('a reply that cannot be kept has been paid for all the same', async () => {
  await expect(store.callOnce(key, 1, async () => paid({ score: Number.NaN }, 0.5))).rejects.toThrow('NaN');
  expect(await record()).toMatchObject({ state: 'failed', costUsd: 0.5, inputTokens: 100, lostReplies: 0 });
});

test('a caller that gives up waits no longer for who executes the call, and does not execute it', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof paid>>();
  const first = store.callOnce(key, 1, () => promise);
  await expect.poll(async () => (await record())?.state).toBe('running');
  const { seen, ask } = model();
  const began = performance.now();
  const waiting = other.callOnce(key, 1, ask, AbortSignal.timeout(150));
  // The signal's own reason where it ends while the database is asked.
  await expect(waiting).rejects.toMatchObject({ name: expect.stringMatching(/^(Abort|Timeout)Error$/) });
  expect(performance.now() - began).toBeLessThan(5_000);
  const stopped = new AbortController();
  stopped.abort(new Error('drained'));
  await expect(store.callOnce({ ...key, ordinal: 1 }, 1, ask, stopped.signal)).rejects.toThrow('drained');
  resolve(paid('reply'));
  expect(await first).toBe('reply');
  expect(seen.executions).toBe(0);
});

test('a clock that jumps, on either side, makes nobody take over a call whose owner lives', async () => {
  const { seen, ask } = model();
  const answer = Promise.withResolvers<void>();
  const first = store.callOnce(key, { prompt: 'p' }, async () => {
    const paidFor = await ask();
    await answer.promise;
    return paidFor;
  });
  await expect.poll(() => seen.executions).toBe(1);
  // Leases are kept and compared by the database's clock; this process may think that it is next year.
  const now = Date.now;
  onTestFinished(() => {
    Date.now = now;
  });
  Date.now = () => now() + 365 * 24 * 3_600_000;
  const second = other.callOnce(key, { prompt: 'p' }, ask);
  await sleep(200);
  answer.resolve();
  expect(await Promise.all([first, second])).toEqual([{ execution: 1 }, { execution: 1 }]);
  expect(seen.executions).toBe(1);
});

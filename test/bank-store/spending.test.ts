import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ModelCallKey, Overrun, SpendingLimit } from '../../bank-store/contract.ts';
import { createStorePlace, run } from './fixtures.ts';

const place = await createStorePlace();
const store = await place.openStore();
const admin = new pg.Pool({ connectionString: place.databaseUrl, max: 1 });
admin.on('error', () => undefined);
afterAll(() => admin.end());

const task = 'eval/spender/task/mail/1';
const pay = (runId: string, owner: string, ordinal: number, costUsd: number | null) => {
  const key: ModelCallKey = { runId, purpose: 'policy', owner, ordinal };
  return store.callOnce(key, ordinal, async () => ({
    reply: 'r',
    cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd },
    model: 'm',
  }));
};

/** Asks for more than any of these limits leave, inside a call that then fails. */
async function overrun(
  runId: string,
  owners: SpendingLimit['owners'],
  usd = 0,
): Promise<Overrun<SpendingLimit> | null> {
  const key: ModelCallKey = { runId, purpose: 'grader', owner: 'asks', ordinal: 0 };
  let found: Overrun<SpendingLimit> | null = null;
  const asked = store.callOnce(key, 'how much', async (purse) => {
    found = await purse.reserve(1e9, [{ usd, owners }]);
    throw new Error('that was all');
  });
  await expect(asked).rejects.toThrow('that was all');
  return found;
}

const spentByRun = async (runId: string) => (await overrun(runId, null))?.spentUsd;
const spentBy = async (runId: string, owners: readonly string[]) => (await overrun(runId, owners))?.spentUsd;

beforeAll(async () => {
  for (const id of ['spender', 'other', 'idle', 'unpriced']) await store.createRun({ ...run, id });
  await Promise.all([
    pay('spender', `${task}/rollout/0#1`, 0, 1),
    pay('spender', `${task}/rollout/0#2`, 0, 2),
    pay('spender', `${task}/rollout/1`, 0, 4),
    pay('spender', task, 0, 8),
    pay('spender', 'mail/1/a/b', 0, 16),
    // Neighbours whose names begin alike.
    pay('spender', `${task}0/rollout/0#1`, 0, 100),
    pay('spender', `${task}-b/rollout/0#1`, 0, 100),
    pay('spender', 'eval/spender/task/mail', 0, 100),
    pay('other', task, 0, 1_000),
    pay('unpriced', 'a', 0, 1),
    pay('unpriced', 'b', 0, null),
  ]);
});

test('a task has spent what its owners and everything below them have, every attempt counted', async () => {
  expect(await spentBy('spender', [task])).toBe(15);
  expect(await spentBy('spender', [task, 'mail/1'])).toBe(31);
  expect(await spentBy('spender', ['nobody'])).toBe(0);
});

test('a run has spent what all its calls have', async () => {
  expect(await spentByRun('spender')).toBe(331);
  expect(await spentByRun('other')).toBe(1_000);
  expect(await spentByRun('idle')).toBe(0);
});

test('one unknown price makes the sum unknown, never 0', async () => {
  expect(await spentByRun('unpriced')).toBeNull();
  expect(await spentBy('unpriced', ['a'])).toBe(1);
  expect(await spentBy('unpriced', ['a', 'b'])).toBeNull();
  await pay('unpriced', 'c', 0, 5);
  expect(await spentByRun('unpriced')).toBeNull();
});

test('a reply that came second and was discarded has been spent, too', async () => {
  await store.createRun({ ...run, id: 'zombie' });
  const key: ModelCallKey = { runId: 'zombie', purpose: 'judge', owner: 'g', ordinal: 0 };
  const costing = (costUsd: number) => ({
    reply: costUsd,
    cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd },
    model: 'm',
  });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof costing>>();
  const begun = Promise.withResolvers<void>();
  const zombie = store.callOnce(key, 1, () => {
    begun.resolve();
    return promise;
  });
  await begun.promise;
  await admin.query(`update model_calls set lease_until = 'epoch' where run_id = 'zombie'`);
  await store.callOnce(key, 1, async () => costing(1));
  resolve(costing(2));
  await zombie;
  expect(await spentByRun('zombie')).toBe(3);
  expect(await spentBy('zombie', ['g'])).toBe(3);
});

test('a run has spent what its failed calls are known to have cost', async () => {
  await store.createRun({ ...run, id: 'failed' });
  const fail = (ordinal: number, costUsd: number | null) => {
    const key: ModelCallKey = { runId: 'failed', purpose: 'judge', owner: 'g', ordinal };
    const spent = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd };
    const error = new Error('cut');
    const call = store.callOnce(key, 1, async () => ({ error, spent, lostReply: true, isFault: false }));
    return expect(call).rejects.toBe(error);
  };
  await pay('failed', 'g', 0, 1);
  await fail(1, 2);
  await fail(1, 4);
  expect(await spentByRun('failed')).toBe(7);
  expect(await spentBy('failed', ['g'])).toBe(7);
  expect(await store.costs('failed')).toMatchObject([
    { purpose: 'grader', costUsd: 0 },
    { purpose: 'judge', calls: 0, costUsd: 6, lostReplies: 2 },
    { purpose: 'policy', calls: 1, costUsd: 1, lostReplies: 0 },
  ]);
  await fail(2, null);
  expect(await spentByRun('failed')).toBeNull();
});

// ---- what is set aside ----------------------------------------------------------------------------------------

/** A call in flight that has asked for `usd` under the limits, and what became of that. */
async function inFlight(runId: string, owner: string, usd: number, limits: readonly SpendingLimit[]) {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const asked = Promise.withResolvers<Overrun<SpendingLimit> | null>();
  const key: ModelCallKey = { runId, purpose: 'judge', owner, ordinal: 0 };
  const call = store.callOnce(key, owner, async (purse) => {
    asked.resolve(await purse.reserve(usd, limits));
    const costUsd = await ended;
    return { reply: 'r', cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd }, model: 'm' };
  });
  return {
    overrun: await asked.promise,
    pay: async (costUsd: number) => {
      end(costUsd);
      await call;
    },
  };
}

test('what calls in flight may cost counts until they end; then what they cost does', async () => {
  await store.createRun({ ...run, id: 'in flight' });
  const limits = [{ usd: 10, owners: null }];
  const first = await inFlight('in flight', 'a', 6, limits);
  expect(first.overrun).toBeNull();
  const second = await inFlight('in flight', 'b', 5, limits);
  expect(second.overrun).toMatchObject({ limit: { usd: 10 }, spentUsd: 0, reservedUsd: 6 });
  const third = await inFlight('in flight', 'c', 4, limits);
  expect(third.overrun).toBeNull();
  await first.pay(2);
  const fourth = await inFlight('in flight', 'd', 5, limits);
  expect(fourth.overrun).toMatchObject({ spentUsd: 2, reservedUsd: 4 });
  await Promise.all([second, third, fourth].map((call) => call.pay(1)));
  expect(await spentByRun('in flight')).toBe(5);
});

test('the limit of a task counts what its own calls have set aside', async () => {
  await store.createRun({ ...run, id: 'tasks' });
  const limitOf = (task: string) => [{ usd: 1, owners: [task] }];
  const calls = [
    await inFlight('tasks', 'step/1/rollout/0', 1, limitOf('step/1')),
    await inFlight('tasks', 'step/10/rollout/0', 1, limitOf('step/10')),
    await inFlight('tasks', 'step/1/rollout/1', 1, limitOf('step/1')),
  ];
  expect(calls.map((call) => call.overrun?.reservedUsd ?? null)).toEqual([null, null, 1]);
  await Promise.all(calls.map((call) => call.pay(0)));
});

test('a call that fails, and one whose worker died, set nothing aside any longer', async () => {
  await store.createRun({ ...run, id: 'gone' });
  const key: ModelCallKey = { runId: 'gone', purpose: 'judge', owner: 'failing', ordinal: 0 };
  const limits = [{ usd: 1, owners: null }];
  const failing = store.callOnce(key, 1, async (purse) => {
    expect(await purse.reserve(1, limits)).toBeNull();
    throw new Error('down');
  });
  await expect(failing).rejects.toThrow('down');
  const dead = await inFlight('gone', 'dead', 1, limits);
  expect(dead.overrun).toBeNull();
  await admin.query(`update model_calls set lease_until = 'epoch' where owner = 'dead'`);
  const next = await inFlight('gone', 'next', 1, limits);
  expect(next.overrun).toBeNull();
  await Promise.all([dead.pay(0), next.pay(0)]);
});

test('many who ask at the same time get no more than there is', async () => {
  await store.createRun({ ...run, id: 'crowd' });
  const limits = [{ usd: 5, owners: null }];
  const calls = await Promise.all(
    Array.from({ length: 16 }, (_, index) => inFlight('crowd', `owner ${index}`, 1, limits)),
  );
  expect(calls.filter((call) => call.overrun === null)).toHaveLength(5);
  await Promise.all(calls.map((call) => call.pay(0)));
});

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ModelCallKey } from '../../bank-store/contract.ts';
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
  expect(await store.spentBy('spender', [task])).toBe(15);
  expect(await store.spentBy('spender', [task, 'mail/1'])).toBe(31);
  expect(await store.spentBy('spender', ['nobody'])).toBe(0);
});

test('a run has spent what all its calls have', async () => {
  expect(await store.spentByRun('spender')).toBe(331);
  expect(await store.spentByRun('other')).toBe(1_000);
  expect(await store.spentByRun('idle')).toBe(0);
});

test('one unknown price makes the sum unknown, never 0', async () => {
  expect(await store.spentByRun('unpriced')).toBeNull();
  expect(await store.spentBy('unpriced', ['a'])).toBe(1);
  expect(await store.spentBy('unpriced', ['a', 'b'])).toBeNull();
  await pay('unpriced', 'c', 0, 5);
  expect(await store.spentByRun('unpriced')).toBeNull();
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
  expect(await store.spentByRun('zombie')).toBe(3);
  expect(await store.spentBy('zombie', ['g'])).toBe(3);
});

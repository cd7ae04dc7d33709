import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaidCall, paidCall } from '../../activities/paid-call.ts';
import { createStorePlace, run } from '../bank-store/fixtures.ts';

const place = await createStorePlace();
const store = await place.openStore();

let runs = 0;
let runId = '';
let asked = 0;
beforeAll(async () => {
  await store.createRun(run);
});
beforeEach(async () => {
  runs += 1;
  asked = 0;
  runId = `paid ${runs}`;
  await store.createRun({ ...run, id: runId });
});

const free = { usdPerRun: null, usdPerTask: null };

/** One more call of a group, at a price. */
function call(group: string, ordinal: number, costUsd: number | null, change: Partial<PaidCall> = {}) {
  return paidCall(store, {
    key: { runId, purpose: 'judge', owner: `${group}/rollout/${ordinal}`, ordinal },
    task: [group],
    ceilings: free,
    model: { provider: 'openai', model: 'm', revision: '1' },
    request: { ordinal },
    mostUsd: costUsd,
    signal: new AbortController().signal,
    ask: async () => {
      asked += 1;
      return { reply: asked, cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd } };
    },
    ...change,
  });
}

test('a run that has spent its ceiling asks no further, and says what to do', async () => {
  const ceilings = { ...free, usdPerRun: 2 };
  await call('a', 0, 1.5, { ceilings });
  await call('b', 0, 0.5, { ceilings });
  const refused = call('c', 0, 0.1, { ceilings });
  await expect(refused).rejects.toMatchObject({ type: 'BudgetExceeded', nonRetryable: true });
  await expect(refused).rejects.toThrow(/spent \$2\.00 of \$2\.00.*Raise `ceilings\.usdPerRun`/);
  expect(asked).toBe(2);
});

test('a reply that is in the journal costs nothing, also beyond the ceiling', async () => {
  const first = await call('a', 0, 5, { ceilings: { ...free, usdPerRun: 5 } });
  expect(await call('a', 0, 5, { ceilings: { ...free, usdPerRun: 1 } })).toBe(first);
  expect(asked).toBe(1);
});

test('a raised ceiling lets the same call through', async () => {
  await call('a', 0, 1);
  await expect(call('a', 1, 1, { ceilings: { ...free, usdPerRun: 1 } })).rejects.toThrow('Raise');
  expect(await call('a', 1, 1, { ceilings: { ...free, usdPerRun: 2 } })).toBe(2);
});

test('the ceiling of a task counts its own calls only', async () => {
  const ceilings = { ...free, usdPerTask: 1 };
  await call('step/1', 0, 1, { ceilings });
  await call('step/10', 0, 0.9, { ceilings });
  await call('step/10', 1, 0.1, { ceilings });
  await expect(call('step/1', 1, 1, { ceilings })).rejects.toThrow('ceilings.usdPerTask');
  await expect(call('step/10', 2, 1, { ceilings })).rejects.toThrow('ceilings.usdPerTask');
  expect(asked).toBe(3);
});

test('a call that may cost more than is left is not made, and the refusal says how much that is', async () => {
  const ceilings = { ...free, usdPerRun: 2 };
  await call('a', 0, 1.5, { ceilings });
  await expect(call('b', 0, 0.75, { ceilings })).rejects.toThrow(
    /spent \$1\.50 of \$2\.00, and the next call may cost \$0\.75\. Raise/,
  );
  expect(asked).toBe(1);
});

test('sixteen calls at once pass no ceiling together, and those that fit are all made', async () => {
  const ceilings = { ...free, usdPerRun: 5 };
  const cost = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0.5 };
  let inFlight = 0;
  let most = 0;
  const slow = async () => {
    asked += 1;
    inFlight += 1;
    most = Math.max(most, inFlight);
    await sleep(100);
    inFlight -= 1;
    return { reply: 'r', cost };
  };
  // Each may cost 1 and costs half of that: five fit at once, and what they leave lets others follow.
  const calls = await Promise.allSettled(
    Array.from({ length: 16 }, (_, index) => call(`g${index}`, 0, 1, { ceilings, ask: slow })),
  );
  const refused = calls.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(most).toBe(5);
  expect(asked).toBe(9);
  expect(refused).toHaveLength(7);
  for (const reason of refused) expect(reason).toMatchObject({ type: 'BudgetExceeded' });
  const costs = await store.costs(runId);
  expect(costs).toMatchObject([{ costUsd: 4.5 }]);
});

test('a call that fits beside nothing waits for nobody', async () => {
  const ceilings = { ...free, usdPerRun: 10 };
  await call('a', 0, 9, { ceilings });
  const { promise, resolve } = Promise.withResolvers<void>();
  const cost = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0.5 };
  const small = call('b', 0, 0.5, {
    ceilings,
    ask: async () => {
      await promise;
      return { reply: 'r', cost };
    },
  });
  await sleep(100);
  const signal = AbortSignal.timeout(2_000);
  await expect(call('c', 0, 2, { ceilings, signal })).rejects.toMatchObject({ type: 'BudgetExceeded' });
  resolve();
  await small;
});

test('a wait for calls in flight ends with its caller', async () => {
  const ceilings = { ...free, usdPerRun: 1 };
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = call('a', 0, 1, {
    ceilings,
    ask: async () => {
      await promise;
      return { reply: 'r', cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
    },
  });
  await sleep(100);
  const signal = AbortSignal.timeout(200);
  await expect(call('b', 0, 1, { ceilings, signal })).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked).toBe(0);
  resolve();
  await first;
});

test('an unknown price under a ceiling is refused, never counted as 0', async () => {
  await call('a', 0, null);
  await expect(call('a', 1, 0, { ceilings: { ...free, usdPerRun: 100 } })).rejects.toThrow(
    'its model has no price or its server reported no usage',
  );
  const unpriced = call('a', 3, null, { ceilings: { ...free, usdPerTask: 100 } });
  await expect(unpriced).rejects.toThrow('the price of a model that it asks is unknown');
  expect(await call('a', 2, 0)).toBe(2);
});

test('a request that names another model is another call', async () => {
  await call('a', 0, 0);
  await call('a', 0, 0, { model: { provider: 'openai', model: 'other', revision: '1' } });
  expect(asked).toBe(2);
});

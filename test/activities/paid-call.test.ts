import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type PaidCall, paidCall } from '../../activities/paid-call.ts';
import { createModelClient } from '../../models/providers/factory.ts';
import { createProviderSelfVerifier } from '../../models/providers/index.ts';
import { createStorePlace, run } from '../bank-store/fixtures.ts';
import { endpointTo, never, question, seen } from '../models/providers/fixtures.ts';
import { type Behaviour, type ModelServer, startModelServer } from '../support/model-server/server.ts';

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

/** What a wait throws whose signal timed out: the signal's own reason where that falls into a query. */
const ended = expect.stringMatching(/^(Abort|Timeout)Error$/);

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
  await expect(call('b', 0, 1, { ceilings, signal })).rejects.toMatchObject({ name: ended });
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

describe('a model server that loses replies', () => {
  const reply = { text: 'Yes' };
  const cut: Behaviour = { kind: 'cut', reply, bytes: 40, by: 'end' };
  const reset: Behaviour = { kind: 'cut', reply, bytes: 40, by: 'reset' };
  const strange: Behaviour = { kind: 'body', body: '{"detail":"no such route"}' };
  const page: Behaviour = { kind: 'body', body: '<html>502 Bad Gateway</html>' };
  const busy: Behaviour = { kind: 'status', status: 503 };
  const whole: Behaviour = { kind: 'reply', reply };

  let server: ModelServer;
  let behaviour: Behaviour;
  beforeAll(async () => {
    server = await startModelServer(() => behaviour);
  });
  afterAll(() => server.close());

  /** One try of one and the same call: its reply, or what it throws. */
  async function tryOnce(end: Behaviour, { timeoutMs = 10_000, signal = never, owner = 'g' } = {}) {
    behaviour = end;
    const client = createModelClient(endpointTo(server), 'test', timeoutMs);
    const request = {
      ...{ model: 'test-model', system: '', user: 'Ready?', images: [], tools: [], schema: null, seed: null },
      ...{ temperature: null, reasoningEffort: null, maxOutputTokens: 8, topLogProbs: null, origin: null },
      ...{ tokenIds: false, streamed: false },
    };
    const tried = call(owner, 0, null, {
      signal,
      ask: async () => {
        const { text } = await client.chat(request, signal);
        return { reply: text, cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
      },
    });
    return tried.catch((error: unknown) => error);
  }

  const lostReplies = async () => (await store.costs(runId)).reduce((sum, row) => sum + row.lostReplies, 0);
  const delayOf = (error: unknown) => (error instanceof ApplicationFailure ? error.nextRetryDelay : null);

  test.each([
    ['ends a reply midway', cut, {}],
    ['breaks the connection', reset, {}],
    // The deadline counts from sending: the request has to arrive before it, also on a busy machine.
    ['says nothing until the deadline', { kind: 'hang' } satisfies Behaviour, { timeoutMs: 1_000 }],
    ['gives up waiting for a model', { kind: 'status', status: 504 } satisfies Behaviour, {}],
    ['answers with JSON that is no reply', strange, {}],
  ] as const)(
    'and %s is asked five times, less and less often, and then pauses the run',
    async (_, end, how) => {
      const before = server.calls.length;
      const delays: unknown[] = [];
      for (let index = 0; index < 4; index += 1) {
        const error = await tryOnce(end, how);
        expect(error).toMatchObject({ type: 'ProviderUnavailable', nonRetryable: false });
        delays.push(delayOf(error));
      }
      expect(delays).toEqual([30_000, 120_000, 480_000, 1_800_000]);
      const last = await tryOnce(end, how);
      expect(last).toMatchObject({ type: 'ModelUnusable', nonRetryable: true });
      expect(String(last)).toMatch(
        /5 tries of one model call .* each may have been paid for; .*Check .*, then resume the run/,
      );
      expect(server.calls.length - before).toBe(5);
      expect(await lostReplies()).toBe(5);
    },
  );

  test('after a fault the call gets as many tries again, and a reply that comes is kept', async () => {
    const types = [];
    for (let index = 0; index < 10; index += 1) {
      const error = await tryOnce(cut);
      types.push(error instanceof ApplicationFailure ? error.type : error);
    }
    const round = [...Array<string>(4).fill('ProviderUnavailable'), 'ModelUnusable'];
    expect(types).toEqual([...round, ...round]);
    expect(await tryOnce(whole)).toBe('Yes');
    const before = server.calls.length;
    expect(await tryOnce(cut)).toBe('Yes');
    expect(server.calls.length).toBe(before);
  });

  test('and in the end answers with JSON that is no reply is shown with what it said, and what to check', async () => {
    for (const end of [cut, reset, strange, cut]) await tryOnce(end);
    const last = await tryOnce(strange);
    expect(last).toMatchObject({ type: 'ModelUnusable', nonRetryable: true });
    expect(String(last)).toContain('{"detail":"no such route"}');
    expect(String(last)).toContain("the model's `provider`");
  });

  test.each([
    ['a page of a proxy', page],
    ['a status', busy],
  ])('is another thing than one that answers with %s: that costs nothing and is asked on', async (_, end) => {
    for (let index = 0; index < 8; index += 1) {
      expect(await tryOnce(end)).toMatchObject({ kind: 'unavailable', retryable: true });
    }
    expect(await lostReplies()).toBe(0);
  });

  test('is another thing than a caller who calls off what he asked', async () => {
    for (let index = 0; index < 6; index += 1) {
      const abort = new AbortController();
      const before = server.calls.length;
      const tried = tryOnce({ kind: 'hang' }, { signal: abort.signal });
      await expect.poll(() => server.calls.length).toBe(before + 1);
      abort.abort(new Error('drained'));
      expect(await tried).toMatchObject({ message: 'drained' });
    }
    expect(await lostReplies()).toBe(0);
  });

  test('in whatever way its tries end, every fifth lost reply of a call pauses the run, and nothing else does', async () => {
    const ends = { cut, reset, strange, page, busy };
    const names = fc.array(fc.constantFrom('cut', 'reset', 'strange', 'page', 'busy'), {
      minLength: 5,
      maxLength: 14,
    });
    await fc.assert(
      fc.asyncProperty(names, fc.uuid(), async (tries, owner) => {
        let lost = 0;
        for (const name of tries) {
          const before = server.calls.length;
          const error = await tryOnce(ends[name], { owner });
          expect(server.calls.length - before).toBe(1);
          const isLost = ends[name] !== page && ends[name] !== busy;
          if (isLost) lost += 1;
          const type = error instanceof ApplicationFailure ? error.type : null;
          expect(type === 'ModelUnusable').toBe(isLost && lost % 5 === 0);
        }
      }),
      { numRuns: 15 },
    );
  });
});

test('what a batch cost of which one request failed counts towards the ceiling', async () => {
  const refusedOnce = [false, true, false];
  const server = await startModelServer((_, index) =>
    refusedOnce[index] ? { kind: 'status', status: 503 } : { kind: 'reply', reply: { text: 'Yes' } },
  );
  onTestFinished(() => server.close());
  const verifier = createProviderSelfVerifier(endpointTo(server));
  const request = { seen: seen(), questions: ['a?', 'bb?', 'ccc?'].map(question) };
  const answer = (usdPerRun: number) =>
    call('rollout', 0, 0.054, {
      ceilings: { ...free, usdPerRun },
      ask: async () => {
        const { answers, cost } = await verifier.answer(request, never);
        return { reply: answers.length, cost };
      },
    });
  // A request costs 0.018, see the fixtures: two were answered.
  await expect(answer(0.06)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await store.costs(runId)).toMatchObject([
    { calls: 0, inputTokens: 22, costUsd: 0.036, lostReplies: 0 },
  ]);
  await expect(answer(0.06)).rejects.toMatchObject({ type: 'BudgetExceeded' });
  expect(server.calls).toHaveLength(3);
  expect(await answer(1)).toBe(3);
  const [costs] = await store.costs(runId);
  expect(costs).toMatchObject({ calls: 1, inputTokens: 55, lostReplies: 0 });
  expect(costs?.costUsd).toBeCloseTo(0.09);
});

test('a wait for somebody who executes the same call ends with its caller', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cost = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 };
  const first = call('a', 0, 0, {
    ask: async () => {
      asked += 1;
      await promise;
      return { reply: 'r', cost };
    },
  });
  await expect.poll(() => asked).toBe(1);
  const second = call('a', 0, 0, { signal: AbortSignal.timeout(200) });
  await expect(second).rejects.toMatchObject({ name: ended });
  resolve();
  expect(await first).toBe('r');
  expect(asked).toBe(1);
});

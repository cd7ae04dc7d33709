import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { AccountBusy } from '../../bank-store/index.ts';
import type { AccountLimits, Permit } from '../../models/contract.ts';
import { firstOutput } from '../support/children.ts';
import { createStorePlace } from './fixtures.ts';

const place = await createStorePlace();
const [store, other] = await Promise.all([place.openStore(), place.openStore()]);
const admin = new pg.Pool({ connectionString: place.databaseUrl, max: 1 });
admin.on('error', () => undefined);
afterAll(() => admin.end());

const none: AccountLimits = { concurrency: null, requestsPerMinute: null, tokensPerMinute: null };
const never = new AbortController().signal;
const done = { usage: null, retryAfterMs: null };

let account = '';
let accounts = 0;
beforeEach(() => {
  accounts += 1;
  account = `account ${accounts}`;
});

/** Moves the account's past, so that minutes take no time. */
const minutesPass = (minutes: number) =>
  admin.query(
    `update provider_accounts set used_at = used_at - $2 * interval '1 minute' where account = $1`,
    [account, minutes],
  );

const impatient = (accountWaitMs = 200) => place.openStore({ accountWaitMs });

test('all workers together keep the number of places', async () => {
  const limits = { ...none, concurrency: 3 };
  const gates = [store, other].map((each) => each.providerGate(account, limits));
  let inside = 0;
  let most = 0;
  const request = async (index: number) => {
    const permit = await gates[index % 2]?.enter(1, never);
    inside += 1;
    most = Math.max(most, inside);
    await sleep(150);
    inside -= 1;
    await permit?.leave(done);
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => request(index)));
  expect(most).toBe(3);
});

test('a worker with a long line of its own does not keep the others out', async () => {
  const limits = { ...none, concurrency: 1 };
  const order: string[] = [];
  const request = async (name: string, gate = store.providerGate(account, limits)) => {
    const permit = await gate.enter(1, never);
    order.push(name);
    await sleep(5);
    await permit.leave(done);
  };
  const many = Array.from({ length: 12 }, () => request('many'));
  await sleep(60);
  await Promise.all([...many, request('one', other.providerGate(account, limits))]);
  expect(order.indexOf('one')).toBeLessThan(12);
});

test('requests of one worker go in the order in which they came', async () => {
  const gate = store.providerGate(account, { ...none, concurrency: 1 });
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const permit = await gate.enter(1, never);
      order.push(index);
      await permit.leave(done);
    }),
  );
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('no 60 seconds see more requests than a minute may have', async () => {
  const { providerGate } = await impatient(0);
  const gate = providerGate(account, { ...none, requestsPerMinute: 40 });
  const sentAt: number[] = [];
  const start = performance.now();
  for (let second = 0; second < 180; second += 3) {
    for (;;) {
      try {
        await (await gate.enter(1, never)).leave(done);
        sentAt.push(second + (performance.now() - start) / 1000);
      } catch (error) {
        expect(error).toBeInstanceOf(AccountBusy);
        break;
      }
    }
    await minutesPass(3 / 60);
  }
  const inMinuteFrom = (from: number) => sentAt.filter((at) => at >= from && at < from + 60).length;
  const busiest = Math.max(...sentAt.map(inMinuteFrom));
  expect(busiest).toBeLessThanOrEqual(40);
  expect(sentAt.length).toBeGreaterThan(3 * 32);
});

test('tokens are counted as used, not as estimated, and flow back with time', async () => {
  const { providerGate } = await impatient(0);
  const gate = providerGate(account, { ...none, tokensPerMinute: 1_000 });
  const permit = await gate.enter(10, never);
  await permit.leave({ usage: { inputTokens: 90, outputTokens: 910 }, retryAfterMs: null });
  await expect(gate.enter(10, never)).rejects.toThrow('1000 tokens a minute are used up');
  await minutesPass(0.9);
  await expect(gate.enter(10, never)).rejects.toThrow(AccountBusy);
  await minutesPass(0.2);
  const cheap = await gate.enter(90, never);
  await cheap.leave({ usage: { inputTokens: 1, outputTokens: 0 }, retryAfterMs: null });
  await (await gate.enter(80, never)).leave(done);
});

test('whoever gives up waiting gives back nothing of what others use', async () => {
  const { providerGate } = await impatient(0);
  const gate = providerGate(account, { ...none, tokensPerMinute: 1_000 });
  await (await gate.enter(90, never)).leave(done);
  for (let times = 0; times < 3; times += 1) await expect(gate.enter(80, never)).rejects.toThrow(AccountBusy);
});

test('a request larger than the burst goes when the bucket is empty, and is paid for afterwards', async () => {
  const { providerGate } = await impatient(0);
  const gate = providerGate(account, { ...none, tokensPerMinute: 1_000 });
  await (await gate.enter(900, never)).leave(done);
  await minutesPass(0.8);
  await expect(gate.enter(1, never)).rejects.toThrow(AccountBusy);
  await minutesPass(0.2);
  await (await gate.enter(900, never)).leave(done);
});

test('Retry-After that one worker was told holds for all of them', async () => {
  const permit = await store.providerGate(account, none).enter(1, never);
  await permit.leave({ usage: null, retryAfterMs: 700 });
  const start = performance.now();
  await (await other.providerGate(account, none).enter(1, never)).leave(done);
  expect(performance.now() - start).toBeGreaterThanOrEqual(650);
});

test('who would wait too long is told so at once, why, and when to come back', async () => {
  const { providerGate } = await impatient(5_000);
  const gate = providerGate(account, none);
  await (await gate.enter(1, never)).leave({ usage: null, retryAfterMs: 60_000 });
  const start = performance.now();
  const refusal = await gate.enter(1, never).catch((error: unknown) => error);
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(refusal).toBeInstanceOf(AccountBusy);
  expect(refusal).toMatchObject({ retryable: true, message: expect.stringContaining('asked for a pause') });
  if (refusal instanceof AccountBusy) expect(refusal.retryAfterMs).toBeGreaterThan(50_000);
});

test('a wait has a deadline, and leaves the line behind it open', async () => {
  const { providerGate } = await impatient(200);
  const gate = providerGate(account, { ...none, concurrency: 1 });
  const permit = await gate.enter(1, never);
  const late = await Promise.allSettled([gate.enter(1, never), gate.enter(1, never)]);
  for (const each of late) {
    expect(each).toMatchObject({ status: 'rejected', reason: expect.any(AccountBusy) });
  }
  await permit.leave(done);
  await (await gate.enter(1, never)).leave(done);
});

test.each(['first in line', 'behind another'])(
  'a wait %s ends when its caller is cancelled',
  async (where) => {
    const gate = store.providerGate(account, { ...none, concurrency: 1 });
    const permit = await gate.enter(1, never);
    const first = where === 'first in line' ? null : gate.enter(1, never);
    const caller = new AbortController();
    const reason = new Error('cancelled');
    const waiting = gate.enter(1, caller.signal);
    setTimeout(() => caller.abort(reason), 80);
    await expect(waiting).rejects.toBe(reason);
    await permit.leave(done);
    await (await first)?.leave(done);
    await (await gate.enter(1, never)).leave(done);
  },
);

test('the place of a killed worker is free once its lease ran out, and not before', async () => {
  const leaseMs = 1_500;
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'account-victim.ts'),
      ...[place.databaseUrl, place.blobDirectory, account, String(leaseMs)],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await firstOutput(child);
  let isIn = false;
  const entering: Promise<Permit> = store
    .providerGate(account, { ...none, concurrency: 1 })
    .enter(1, never)
    .then((permit) => {
      isIn = true;
      return permit;
    });
  await sleep(2 * leaseMs);
  expect(isIn).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await entering).leave(done);
  expect(isIn).toBe(true);
});

test('without limits nobody waits, whatever is in use', async () => {
  const gate = store.providerGate(account, none);
  const permits = await Promise.all(Array.from({ length: 20 }, () => gate.enter(1_000_000, never)));
  expect(permits).toHaveLength(20);
  for (const permit of permits) await permit.leave(done);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StateLog } from '../../../benchmarks/wai/state-log.ts';

const sendings = fc
  .integer({ min: 1, max: 12 })
  .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count }));

test('whatever order they arrive in, the state that was sent last is the latest', async () => {
  await fc.assert(
    fc.asyncProperty(sendings, async (order) => {
      const log = new StateLog();
      for (const index of order) log.accept('page', index + 1, `state ${index + 1}`);
      await log.settled(1_000);
      expect(log.latest).toBe(`state ${order.length}`);
    }),
    { numRuns: 50 },
  );
});

test('a state that was sent and does not come makes the final state unknown, never an older one', async () => {
  const log = new StateLog();
  log.accept('page', 1, 'first');
  log.accept('page', 3, 'third');
  await expect(log.settled(60)).rejects.toThrow('1 states that did not arrive');
  log.accept('page', 2, 'second');
  await log.settled(60);
  expect(log.latest).toBe('third');
});

test('a page that was loaded later has the last word', async () => {
  const log = new StateLog();
  log.accept('old page', 1, 'a');
  log.accept('old page', 2, 'b');
  log.accept('new page', 1, 'c');
  await log.settled(60);
  expect(log.latest).toBe('c');
});

test('nobody reads a state while another one is coming in', async () => {
  const log = new StateLog();
  log.accept('page', 1, 'first');
  const body = Promise.withResolvers<void>();
  const coming = log.receiving(async () => {
    await body.promise;
    log.accept('page', 2, 'second');
  });
  const reader = log.settled(5_000).then(() => log.latest);
  body.resolve();
  await coming;
  expect(await reader).toBe('second');
});

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type House, openHouse } from './scripted-house.ts';
import { findExcess, SOAKED_CACHE, soak } from './soak.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse(inject('temporalAddress'), 'soak', { maxCachedWorkflows: SOAKED_CACHE });
  house.play({});
});
afterAll(() => house.close());

test('200 training steps on four shards stay within every budget of events and of memory', async () => {
  const report = await soak(house, 'soak', 4, 50);
  expect(findExcess(report)).toEqual([]);
  // Of full steps: 22 activities each.
  expect(report.step).toBeGreaterThan(60);
}, 900_000);

test('a soak notices what grows', () => {
  const calm = { seconds: 1, step: 100, growth: 20, shard: 600, run: 20, shardPerStep: 10 };
  const residentMb = [300, 380, 400, 400, 400, 400, 400, 400, 400, 400];
  expect(findExcess({ ...calm, residentMb })).toEqual([]);
  const grown = { step: 176, growth: 41, shard: 701, run: 20, shardPerStep: 11.1, seconds: 1 };
  const leaking = residentMb.map((mb, tenth) => mb + 30 * tenth);
  expect(findExcess({ ...grown, residentMb: leaking })).toHaveLength(5);
});

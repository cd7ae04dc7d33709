import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trainingTask } from '../../../workflows/method/task-order.ts';
import { cases } from './arbitraries.ts';

const setting = fc.integer({ min: 1, max: 4 }).chain((shards) =>
  fc.record({
    seed: fc.integer(),
    shards: fc.constant(shards),
    pool: fc.integer({ min: shards, max: 20 }).map((n) => Array.from({ length: n }, (_, i) => `task-${i}`)),
  }),
);

describe('the task of a training step', () => {
  test('shards own disjoint slices that together are the pool, and each pass visits its slice once', () => {
    fc.assert(
      fc.property(setting, fc.integer({ min: 0, max: 2 }), ({ pool, seed, shards }, epoch) => {
        const slices = Array.from({ length: shards }, (_, shard) => {
          const size = Math.floor(pool.length / shards) + (shard < pool.length % shards ? 1 : 0);
          return Array.from({ length: size }, (_, i) =>
            trainingTask(pool, { seed, shards, shard, step: epoch * size + i }),
          );
        });
        expect(slices.flat().sort()).toEqual([...pool].sort());
      }),
      cases,
    );
  });

  test('a shard without a task is refused', () => {
    expect(() => trainingTask(['a'], { seed: 1, shards: 2, shard: 1, step: 0 })).toThrow(
      'has no training task',
    );
  });
});

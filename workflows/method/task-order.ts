import { randomGenerator } from './random.ts';

/**
 * The training task of one training step: a pure function of (seed, shard, step). Shards own disjoint slices of
 * the pool; each goes through its slice in a new random order, again and again (DESIGN 2.1).
 */
export function trainingTask(
  pool: readonly string[],
  at: { readonly seed: number; readonly shards: number; readonly shard: number; readonly step: number },
): string {
  const dealt = randomGenerator([at.seed, 'task slices']).shuffle(pool);
  const slice = dealt.filter((_, index) => index % at.shards === at.shard);
  if (slice.length === 0) {
    throw new RangeError(
      `shard ${at.shard} of ${at.shards} has no training task: the pool has ${pool.length}`,
    );
  }
  const epoch = Math.floor(at.step / slice.length);
  const order = randomGenerator([at.seed, at.shard, 'task order', epoch]).shuffle(slice);
  const task = order[at.step % slice.length];
  if (task === undefined) throw new RangeError(`training step ${at.step} is not a whole number from 0`);
  return task;
}

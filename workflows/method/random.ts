import { finite, invalid } from './checks.ts';

/** A coordinate of the randomness: (run seed, shard, training step, task, rollout, browser step), invariant 13. */
export type SeedPath = readonly (string | number)[];

export interface RandomGenerator {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform over 0 .. bound-1. */
  below(bound: number): number;
  /** Standard normal. */
  normal(): number;
  /** Index drawn in proportion to non-negative weights. */
  choose(weights: readonly number[]): number;
  /** A new array in random order. */
  shuffle<T>(items: readonly T[]): T[];
}

/** Equal paths give equal streams everywhere; paths that differ in any part give unrelated ones. */
export function randomGenerator(path: SeedPath): RandomGenerator {
  const nextWord = xoshiro128(hash128(pathText(path)));
  const next = (): number => ((nextWord() >>> 5) * 0x4000000 + (nextWord() >>> 6)) / 0x20000000000000;
  const below = (bound: number): number => {
    if (!Number.isSafeInteger(bound) || bound < 1) invalid('bound', bound, 'a whole number from 1');
    return Math.floor(next() * bound);
  };
  return {
    next,
    below,
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    choose: (weights) => chooseIndex(weights, next()),
    shuffle: (items) => shuffled(items, below),
  };
}

/** Unambiguous: ['a', 1] and ['a', '1'] and ['a1'] are three paths. */
function pathText(path: SeedPath): string {
  for (const part of path) if (typeof part === 'number') finite('seed path part', part);
  return JSON.stringify(path);
}

function chooseIndex(weights: readonly number[], uniform: number): number {
  let total = 0;
  for (const weight of weights) {
    if (!(weight >= 0)) invalid('weight', weight, 'at least 0');
    total += weight;
  }
  if (!(total > 0 && Number.isFinite(total))) invalid('the sum of weights', total, 'positive and finite');
  let left = uniform * total;
  let last = 0;
  for (const [index, weight] of weights.entries()) {
    if (weight === 0) continue;
    last = index;
    left -= weight;
    if (left < 0) return index;
  }
  return last;
}

/** Fisher and Yates; both indices are in range. */
function shuffled<T>(items: readonly T[], below: (bound: number) => number): T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last--) {
    const drawn = below(last + 1);
    [order[last], order[drawn]] = [order[drawn]!, order[last]!];
  }
  return order;
}

/** Four independently seeded lanes over the UTF-16 units, each finished with the murmur3 mixer. */
function hash128(text: string): Uint32Array {
  const lanes = Uint32Array.of(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344);
  const factors = [0xcc9e2d51, 0x1b873593, 0x85ebca6b, 0xc2b2ae35];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i) + 1;
    for (let lane = 0; lane < 4; lane++) {
      const neighbour = lanes[(lane + 1) % 4] ?? 0;
      const mixed = Math.imul((lanes[lane] ?? 0) ^ unit, factors[lane] ?? 1);
      lanes[lane] = rotateLeft(mixed, 13) + neighbour;
    }
  }
  for (let round = 0; round < 2; round++) {
    for (let lane = 0; lane < 4; lane++) {
      lanes[lane] = finishMix((lanes[lane] ?? 0) + (lanes[(lane + 3) % 4] ?? 0) + text.length + lane);
    }
  }
  // The all-zero state is the one fixed point of the generator.
  if (lanes.every((word) => word === 0)) lanes[0] = 1;
  return lanes;
}

function finishMix(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** xoshiro128** (Blackman and Vigna 2018), 32 bits a call. */
function xoshiro128(state: Uint32Array): () => number {
  let [a, b, c, d] = [state[0] ?? 0, state[1] ?? 0, state[2] ?? 0, state[3] ?? 0];
  return () => {
    const word = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotateLeft(d, 11);
    return word;
  };
}

const rotateLeft = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

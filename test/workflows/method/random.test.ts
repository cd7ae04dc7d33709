import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { cases } from './arbitraries.ts';

const path = fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 6 });
const firstDraws = (of: readonly (string | number)[], n = 4): number[] => {
  const random = randomGenerator(of);
  return Array.from({ length: n }, () => random.next());
};

describe('seeded randomness (invariant 13)', () => {
  test('equal paths give equal streams, different paths different ones', () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(firstDraws(a)).toEqual(firstDraws([...a]));
        if (JSON.stringify(a) !== JSON.stringify(b)) expect(firstDraws(a)).not.toEqual(firstDraws(b));
      }),
      cases,
    );
  });

  test('the parts of a path do not run together', () => {
    const paths = [['a', 1], ['a', '1'], ['a1'], ['a', 1, ''], [], [''], ['1', 'a']];
    const streams = paths.map((p) => JSON.stringify(firstDraws(p)));
    expect(new Set(streams).size).toBe(paths.length);
  });

  test('draws stay in their ranges and a shuffle keeps its items', () => {
    fc.assert(
      fc.property(path, fc.integer({ min: 1, max: 1000 }), fc.array(fc.integer()), (p, bound, items) => {
        const random = randomGenerator(p);
        const uniform = random.next();
        expect(uniform >= 0 && uniform < 1).toBe(true);
        const drawn = random.below(bound);
        expect(Number.isInteger(drawn) && drawn >= 0 && drawn < bound).toBe(true);
        expect(Number.isFinite(random.normal())).toBe(true);
        expect(random.shuffle(items).sort()).toEqual([...items].sort());
      }),
      cases,
    );
  });

  test('a choice never lands on weight 0', () => {
    const weights = fc
      .array(fc.constantFrom(0, 0.5, 2), { minLength: 1 })
      .filter((w) => w.some((x) => x > 0));
    fc.assert(
      fc.property(path, weights, (p, w) => {
        expect(w[randomGenerator(p).choose(w)]).toBeGreaterThan(0);
      }),
      cases,
    );
  });

  test('neighbouring paths are as uniform and independent as one stream (chi-squared over 64 cells)', () => {
    const draws = 64_000;
    const counts = { stream: new Array<number>(64).fill(0), paths: new Array<number>(64).fill(0) };
    const one = randomGenerator(['stream']);
    for (let i = 0; i < draws; i++) {
      const inStream = Math.floor(one.next() * 8) * 8 + Math.floor(one.next() * 8);
      counts.stream[inStream] = (counts.stream[inStream] ?? 0) + 1;
      const [a = 0] = firstDraws(['seed', 7, i], 1);
      const [b = 0] = firstDraws(['seed', 7, i + 1], 1);
      const acrossPaths = Math.floor(a * 8) * 8 + Math.floor(b * 8);
      counts.paths[acrossPaths] = (counts.paths[acrossPaths] ?? 0) + 1;
    }
    for (const cells of [counts.stream, counts.paths]) {
      const chi2 = cells.reduce((sum, seen) => sum + (seen - draws / 64) ** 2 / (draws / 64), 0);
      // 63 degrees of freedom: the 0.1 % tails.
      expect(chi2).toBeGreaterThan(32);
      expect(chi2).toBeLessThan(104);
    }
  });

  test('normal draws have mean 0, variance 1 and light tails', () => {
    const random = randomGenerator(['normal']);
    const draws = Array.from({ length: 50_000 }, () => random.normal());
    const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length;
    const variance = draws.reduce((sum, x) => sum + x * x, 0) / draws.length;
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(variance - 1)).toBeLessThan(0.03);
    expect(draws.filter((x) => Math.abs(x) > 1.96).length / draws.length).toBeCloseTo(0.05, 2);
  });

  test('a bound below 1 and weights without a positive sum are refused', () => {
    expect(() => randomGenerator([]).below(0)).toThrow('bound must be');
    expect(() => randomGenerator([]).choose([0, 0])).toThrow('the sum of weights');
    expect(() => randomGenerator([Number.NaN])).toThrow('seed path part');
  });
});

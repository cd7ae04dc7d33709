import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { outcomeRates, pairedInterval, wilson } from '../../../workflows/method/rates.ts';
import { studentQuantile } from '../../../workflows/method/student.ts';
import { cases } from './arbitraries.ts';
import { expectClose } from './close.ts';

const outcome = fc.constantFrom(
  { kind: 'success' } as const,
  { kind: 'failure' } as const,
  { kind: 'unscored', cause: 'infra' } as const,
  { kind: 'unscored', cause: 'blocked' } as const,
);

describe('rates', () => {
  test('the Wilson interval holds the rate, stays in [0, 1] and solves its own equation', () => {
    const shares = fc
      .integer({ min: 1, max: 5000 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(shares, ([k, n]) => {
        const rate = wilson(k, n);
        if (rate === null) throw new Error('a denominator above 0 has a rate');
        expect(rate.low).toBeLessThanOrEqual(rate.rate);
        expect(rate.high).toBeGreaterThanOrEqual(rate.rate);
        expect(rate.low).toBeGreaterThanOrEqual(0);
        expect(rate.high).toBeLessThanOrEqual(1);
        for (const end of [rate.low, rate.high].filter((p) => p > 0 && p < 1)) {
          expect(Math.abs(k / n - end)).toBeCloseTo(1.959963984540054 * Math.sqrt((end * (1 - end)) / n), 9);
        }
      }),
      cases,
    );
  });

  test('both denominators are counted, and unscored tasks stand between them by cause', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        const { ofAll, ofScored, unscored } = outcomeRates(outcomes);
        const missing = Object.values(unscored).reduce((sum, n) => sum + n, 0);
        expect(ofAll?.total ?? 0).toBe(outcomes.length);
        expect((ofScored?.total ?? 0) + missing).toBe(outcomes.length);
        if (ofAll && ofScored) expect(ofScored.rate).toBeGreaterThanOrEqual(ofAll.rate);
      }),
      cases,
    );
  });

  test('an empty denominator has no rate, instead of rate 0', () => {
    expect(wilson(0, 0)).toBeNull();
    expect(outcomeRates([{ kind: 'unscored', cause: 'infra' }]).ofScored).toBeNull();
  });

  test('impossible counts are refused', () => {
    expect(() => wilson(3, 2)).toThrow('successes must be at most the total');
    expect(() => wilson(0.5, 2)).toThrow('successes must be a whole number');
  });

  test('Student quantiles agree with published tables', () => {
    const table: [number, number, number][] = [
      [0.975, 1, 12.7062047],
      [0.975, 2, 4.30265273],
      [0.975, 5, 2.57058184],
      [0.975, 30, 2.04227246],
      [0.95, 10, 1.81246112],
      [0.995, 7, 3.4994833],
      [0.975, 1000, 1.96233908],
    ];
    for (const [p, df, t] of table) expect(studentQuantile(p, df)).toBeCloseTo(t, 6);
    expectClose(studentQuantile(0.025, 5), -studentQuantile(0.975, 5));
  });

  test('the paired interval mirrors when the sides are exchanged, and shifts with the second side', () => {
    const value = fc.integer({ min: -100, max: 100 }).map((n) => n / 10);
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 2, maxLength: 20 }), value, (pairs, by) => {
        const interval = pairedInterval(pairs);
        const exchanged = pairedInterval(pairs.map(([a, b]) => [b, a] as const));
        const shifted = pairedInterval(pairs.map(([a, b]) => [a, b + by] as const));
        if (!interval || !exchanged || !shifted) throw new Error('two pairs have an interval');
        expectClose([exchanged.mean, exchanged.low], [-interval.mean, -interval.high]);
        expectClose([shifted.mean, shifted.low], [interval.mean + by, interval.low + by]);
        expect(interval.low).toBeLessThanOrEqual(interval.mean);
      }),
      cases,
    );
  });

  test('one pair has no interval', () => {
    expect(pairedInterval([[0, 1]])).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomGenerator } from '../../../workflows/method/random.ts';
import {
  decide,
  decideSoFar,
  drawVote,
  incumbentFirst,
  incumbentLogScore,
  selectByChain,
  successAfterComparison,
  voteDistribution,
} from '../../../workflows/method/selection.ts';
import type { Vote } from '../../../workflows/method/types.ts';
import { cases } from './arbitraries.ts';

const vote = fc.constantFrom<Vote>('A', 'B', 'TIE', 'INVALID');
const ballot = fc.constantFrom(1, 3, 5, 7).chain((votes) =>
  fc.record({
    votes: fc.constant(votes),
    cast: fc.array(vote, { maxLength: votes }),
    orderGuard: fc.boolean(),
  }),
);

/** METHOD 6 word for word, without early stopping. */
function fullDecision(cast: readonly Vote[], rule: { votes: number; orderGuard: boolean }): 'keep' | 'swap' {
  const swaps = cast.flatMap((label, k) => (label === 'B' ? [incumbentFirst(k)] : []));
  const bothOrders = new Set(swaps).size === 2 || rule.votes === 1;
  return swaps.length > rule.votes / 2 && (!rule.orderGuard || bothOrders) ? 'swap' : 'keep';
}

/** All vote sequences of length m with their probabilities under independent votes. */
function sequences(
  m: number,
  chances: Readonly<Partial<Record<Vote, number>>>,
): { votes: Vote[]; p: number }[] {
  if (m === 0) return [{ votes: [], p: 1 }];
  return sequences(m - 1, chances).flatMap(({ votes, p }) =>
    (['A', 'B', 'TIE'] as const).map((next) => ({ votes: [...votes, next], p: p * (chances[next] ?? 0) })),
  );
}

describe('CTS decisions (METHOD 6)', () => {
  test('early stopping never changes a decision', () => {
    fc.assert(
      fc.property(ballot, ({ cast, ...rule }) => {
        expect(decide(cast, rule).decision).toBe(fullDecision(cast, rule));
      }),
      cases,
    );
  });

  test('once decided, no further vote reopens or turns the decision', () => {
    fc.assert(
      fc.property(ballot, ({ cast, ...rule }) => {
        let settled: string = 'open';
        for (let k = 0; k <= cast.length; k++) {
          const now = decideSoFar(cast.slice(0, k), rule);
          if (settled !== 'open') expect(now).toBe(settled);
          settled = now;
        }
      }),
      cases,
    );
  });

  test('it stops no later than needed: while open, some votes still lead to a swap', () => {
    fc.assert(
      fc.property(ballot, ({ cast, ...rule }) => {
        const rest = Array.from({ length: rule.votes - cast.length }, (): Vote => 'B');
        const reachable = fullDecision([...cast, ...rest], rule) === 'swap';
        const now = decideSoFar(cast, rule);
        if (cast.length < rule.votes) expect(now === 'keep').toBe(!reachable);
        else expect(now).toBe(fullDecision(cast, rule));
      }),
      cases,
    );
  });

  test('swaps of the guarded rule are swaps of the stated rule', () => {
    fc.assert(
      fc.property(ballot, ({ cast, votes }) => {
        if (decide(cast, { votes, orderGuard: true }).decision === 'swap') {
          expect(decide(cast, { votes, orderGuard: false }).decision).toBe('swap');
        }
      }),
      cases,
    );
  });

  test('ties, invalid and missing votes keep', () => {
    fc.assert(
      fc.property(ballot, fc.constantFrom<Vote>('TIE', 'INVALID'), ({ cast, ...rule }, blank) => {
        const blanks = cast.map(() => blank);
        expect(decide(blanks, rule).decision).toBe('keep');
        expect(decide([], rule).decision).toBe('keep');
        const withoutSwaps = cast.map((label) => (label === 'B' ? blank : label));
        expect(decide(withoutSwaps, rule).decision).toBe('keep');
      }),
      cases,
    );
  });

  test('independent votes swap with 3b²-2b³ under the stated rule and 2b²-b³ under the guard', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (b) => {
        const chanceOf = (orderGuard: boolean): number =>
          sequences(3, { B: b, A: 1 - b, TIE: 0 })
            .filter(({ votes }) => decide(votes, { votes: 3, orderGuard }).decision === 'swap')
            .reduce((sum, { p }) => sum + p, 0);
        expect(chanceOf(false)).toBeCloseTo(3 * b ** 2 - 2 * b ** 3, 12);
        expect(chanceOf(true)).toBeCloseTo(2 * b ** 2 - b ** 3, 12);
      }),
      cases,
    );
  });

  test('the incumbent is shown first in the first vote and every other one after it', () => {
    expect([0, 1, 2, 3].map(incumbentFirst)).toEqual([true, false, true, false]);
  });

  test('an even m and a list longer than m are refused', () => {
    expect(() => decide(['B'], { votes: 2, orderGuard: false })).toThrow('votes must be odd');
    expect(() => decide(['B', 'B'], { votes: 1, orderGuard: false })).toThrow('at most 1');
  });

  test('the log score is -0.5 on a swap, 0.5 on a strict majority for the incumbent, else 0', () => {
    const rule = { votes: 3, orderGuard: false };
    expect(incumbentLogScore(['B', 'A', 'B'], rule)).toBe(-0.5);
    expect(incumbentLogScore(['A', 'A', 'B'], rule)).toBe(0.5);
    expect(incumbentLogScore(['A', 'TIE', 'B'], rule)).toBe(0);
  });
});

describe('the chain', () => {
  const table = fc.array(fc.array(vote, { minLength: 3, maxLength: 3 }), { minLength: 16, maxLength: 16 });

  test('each challenger meets the incumbent of that moment, and the last incumbent is emitted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), table, fc.boolean(), (n, votesOf, orderGuard) => {
        const { selected, log } = selectByChain(n, (i, c) => votesOf[i * 4 + c] ?? [], {
          votes: 3,
          orderGuard,
        });
        let incumbent = 0;
        for (const [index, comparison] of log.entries()) {
          expect([comparison.incumbent, comparison.challenger]).toEqual([incumbent, index + 1]);
          if (comparison.decision === 'swap') incumbent = comparison.challenger;
        }
        expect(log).toHaveLength(n - 1);
        expect(selected).toBe(incumbent);
      }),
      cases,
    );
  });

  test('swapping helps exactly when s_r/s_w exceeds p10/p01', () => {
    const chance = fc.integer({ min: 1, max: 100 }).map((n) => n / 200);
    fc.assert(
      fc.property(chance, chance, chance, chance, (p10, p01, sr, sw) => {
        const after = successAfterComparison({
          incumbentSucceeds: p10,
          onlyIncumbent: p10,
          onlyChallenger: p01,
          swapGivenBetter: sr,
          swapGivenWorse: sw,
        });
        fc.pre(Math.abs(sr * p01 - p10 * sw) > 1e-9);
        expect(after > p10).toBe(sr / sw > p10 / p01);
      }),
      cases,
    );
  });
});

describe('the embedded selector (METHOD 6.1)', () => {
  const difference = fc.double({ min: -2, max: 2, noNaN: true });

  test('its probabilities sum to 1 and mirror with the evidence', () => {
    fc.assert(
      fc.property(difference, (d) => {
        const [here, there] = [voteDistribution(d, 0.7), voteDistribution(-d, 0.7)];
        expect(here.A + here.B + here.TIE).toBeCloseTo(1, 12);
        expect(here.A).toBeCloseTo(there.B, 12);
        if (d > 0.01) expect(here.B).toBeGreaterThan(here.A);
      }),
      cases,
    );
  });

  test('equal evidence swaps in 7 % of the comparisons, half a point of it in about 90 %', () => {
    const swapChance = (d: number): number =>
      sequences(3, voteDistribution(d, 0.7))
        .filter(({ votes }) => decide(votes, { votes: 3, orderGuard: false }).decision === 'swap')
        .reduce((sum, { p }) => sum + p, 0);
    expect(swapChance(0)).toBeCloseTo(0.07, 2);
    expect(swapChance(0.5)).toBeCloseTo(0.9, 1);
  });

  test('a vote depends on its seed path alone', () => {
    fc.assert(
      fc.property(difference, fc.array(fc.oneof(fc.string(), fc.integer())), (d, path) => {
        expect(drawVote(d, 0.7, randomGenerator(path))).toBe(drawVote(d, 0.7, randomGenerator(path)));
      }),
      cases,
    );
  });

  test('drawn votes follow the distribution', () => {
    const drawn = Array.from({ length: 20_000 }, (_, k) => drawVote(0.1, 0.7, randomGenerator(['votes', k])));
    const expected = voteDistribution(0.1, 0.7);
    for (const label of ['A', 'B', 'TIE'] as const) {
      const share = drawn.filter((v) => v === label).length / drawn.length;
      expect(Math.abs(share - expected[label])).toBeLessThan(0.015);
    }
  });
});

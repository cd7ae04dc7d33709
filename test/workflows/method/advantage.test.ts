import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AdvantageRollout, stratifiedAdvantages } from '../../../workflows/method/advantage.ts';
import { grpoAdvantages } from '../../../workflows/method/grpo.ts';
import { discountedReturns } from '../../../workflows/method/returns.ts';
import { stepReward } from '../../../workflows/method/reward.ts';
import { tokenAdvantages } from '../../../workflows/method/token-advantage.ts';
import { cases, paper, score, shuffled } from './arbitraries.ts';
import { expectClose } from './close.ts';

const state = fc
  .tuple(fc.constantFrom('a.example', 'b.example'), fc.constantFrom('x', 'y'))
  .map(([hostKey, page]) => ({ hostKey, pathKey: `${hostKey}/${page}` }));

const rollout: fc.Arbitrary<AdvantageRollout> = fc
  .tuple(fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), state), { maxLength: 6 }), score)
  .map(([steps, value]) => ({
    returns: steps.map(([tenths]) => tenths / 10),
    states: steps.map(([, at]) => at),
    score: value,
  }));

const groupOfRollouts = fc.array(rollout, { maxLength: 8 });

/** Members of the path strata: (step, path key) to the advantages and levels found there. */
function byPathStratum(group: readonly AdvantageRollout[]) {
  const settled = stratifiedAdvantages(group, paper);
  const members = group.flatMap((r, i) =>
    r.states.map((at, t) => ({
      stratum: `${t} ${at.pathKey}`,
      value: r.returns[t] ?? 0,
      ...settled[i]?.[t],
    })),
  );
  return [...Map.groupBy(members, (m) => m.stratum).values()];
}

describe('URL-stratified advantages (METHOD 4.4)', () => {
  test('the members of one path stratum are all settled there or none is, and settled ones sum to 0', () => {
    fc.assert(
      fc.property(groupOfRollouts, (group) => {
        for (const members of byPathStratum(group)) {
          const settled = members.filter((m) => m.level === 0);
          expect([0, members.length]).toContain(settled.length);
          const sum = settled.reduce((total, m) => total + (m.advantage ?? 0), 0);
          expect(Math.abs(sum)).toBeLessThan(1e-6);
        }
      }),
      cases,
    );
  });

  test('a path stratum settles exactly when two members differ', () => {
    fc.assert(
      fc.property(groupOfRollouts, (group) => {
        for (const members of byPathStratum(group)) {
          const differ = new Set(members.map((m) => m.value)).size > 1;
          expect(members.every((m) => m.level === 0)).toBe(differ);
        }
      }),
      cases,
    );
  });

  test('no advantage exceeds (m-1)/sqrt(m) in a group of m', () => {
    fc.assert(
      fc.property(groupOfRollouts, (group) => {
        const bound = (group.length - 1) / Math.sqrt(group.length);
        for (const { advantage } of stratifiedAdvantages(group, paper).flat()) {
          expect(Math.abs(advantage)).toBeLessThanOrEqual(bound + 1e-9);
        }
      }),
      cases,
    );
  });

  test('reordering the rollouts reorders the advantages', () => {
    const reordered = groupOfRollouts.chain((group) =>
      fc.tuple(fc.constant(group), shuffled(group.map((_, index) => index))),
    );
    fc.assert(
      fc.property(reordered, ([group, order]) => {
        const original = stratifiedAdvantages(group, paper);
        const mixed = stratifiedAdvantages(
          order.flatMap((i) => group[i] ?? []),
          paper,
        );
        expectClose(
          mixed,
          order.map((i) => original[i]),
        );
      }),
      cases,
    );
  });

  test('identical rollouts give zero everywhere', () => {
    fc.assert(
      fc.property(rollout, fc.integer({ min: 1, max: 8 }), (one, size) => {
        const group = Array.from({ length: size }, () => one);
        for (const { advantage } of stratifiedAdvantages(group, paper).flat()) expect(advantage).toBe(0);
      }),
      cases,
    );
  });

  test('with equal judge scores GRPO is silent, CLIFT tells apart what the verifier tells apart', () => {
    const evidence = fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }));
    fc.assert(
      fc.property(score, evidence, state, (judge, [left, right], at) => {
        const group = [left, right].map((hundredths) => {
          const reward = stepReward(judge, hundredths / 100, paper.beta);
          return { returns: discountedReturns([reward], paper.gamma, 'sum'), states: [at], score: judge };
        });
        expect(grpoAdvantages([judge, judge], paper)).toEqual([0, 0]);
        const [a = Number.NaN, b = Number.NaN] = stratifiedAdvantages(group, paper).map(
          (row) => row[0]?.advantage,
        );
        expect(Math.sign(a - b)).toBe(Math.sign(left - right));
      }),
      cases,
    );
  });

  test('GRPO advantages sum to 0 and keep the order of the scores', () => {
    fc.assert(
      fc.property(fc.array(score, { maxLength: 8 }), (scores) => {
        const advantages = grpoAdvantages(scores, paper);
        expect(Math.abs(advantages.reduce((sum, a) => sum + a, 0))).toBeLessThan(1e-6);
        for (const [i, a] of advantages.entries()) {
          for (const [j, b] of advantages.entries())
            if ((scores[i] ?? 0) > (scores[j] ?? 0)) expect(a >= b).toBe(true);
        }
      }),
      cases,
    );
  });

  test('returns without their states, or that are not finite, are refused', () => {
    expect(() => stratifiedAdvantages([{ returns: [1], states: [], score: 0.5 }], paper)).toThrow(
      'length of states',
    );
    const at = { hostKey: 'a', pathKey: 'a/' };
    expect(() => stratifiedAdvantages([{ returns: [Number.NaN], states: [at], score: 0.5 }], paper)).toThrow(
      'return must be finite',
    );
  });
});

describe('token advantages (METHOD 4.5)', () => {
  /** Disjoint spans with gaps, in order; null for a step without a tool call. */
  const spans = fc
    .array(fc.option(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5 })), { freq: 4 }), { maxLength: 8 })
    .map((steps) => {
      let at = 0;
      return steps.map((step): readonly [number, number] | null => {
        if (step === null) return null;
        const start = at + step[0];
        at = start + step[1];
        return [start, at];
      });
    });

  test('tokens inside a span carry its advantage, all others are zero and masked', () => {
    fc.assert(
      fc.property(spans, fc.nat(5), (steps, tail) => {
        const length = Math.max(0, ...steps.map((span) => span?.[1] ?? 0)) + tail;
        const values = steps.map((_, i) => i + 0.5);
        const { advantages, mask } = tokenAdvantages(length, steps, values);
        for (let token = 0; token < length; token++) {
          const step = steps.findIndex((span) => span !== null && token >= span[0] && token < span[1]);
          expect([advantages[token], mask[token]]).toEqual(step < 0 ? [0, 0] : [values[step], 1]);
        }
      }),
      cases,
    );
  });

  test('overlapping, empty and overlong spans are refused', () => {
    expect(() =>
      tokenAdvantages(
        10,
        [
          [0, 4],
          [3, 6],
        ],
        [1, 1],
      ),
    ).toThrow('the span of step 1');
    expect(() => tokenAdvantages(10, [[4, 4]], [1])).toThrow('the span of step 0');
    expect(() => tokenAdvantages(10, [[8, 11]], [1])).toThrow('within 10 tokens');
    expect(() => tokenAdvantages(10, [[0, 4]], [])).toThrow('length of stepAdvantages');
  });
});

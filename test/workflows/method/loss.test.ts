import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LossRollout, policyLoss } from '../../../workflows/method/loss.ts';
import { cases } from './arbitraries.ts';
import { expectClose } from './close.ts';

const logProb = fc.integer({ min: -3000, max: 0 }).map((n) => n / 1000);
const token = fc.record({
  n: logProb,
  o: logProb,
  f: logProb,
  a: fc.integer({ min: -2000, max: 2000 }).map((n) => n / 1000),
  m: fc.constantFrom<0 | 1>(0, 1),
});
const rolloutOf = (
  tokens: readonly { n: number; o: number; f: number; a: number; m: 0 | 1 }[],
): LossRollout => ({
  newLogProbs: tokens.map((t) => t.n),
  oldLogProbs: tokens.map((t) => t.o),
  refLogProbs: tokens.map((t) => t.f),
  advantages: tokens.map((t) => t.a),
  mask: tokens.map((t) => t.m),
  spans: [[0, tokens.length]],
});
const batchTokens = fc.array(fc.array(token, { minLength: 1, maxLength: 6 }), { maxLength: 4 });
const norm = fc.constantFrom<'token' | 'sequence' | 'step'>('token', 'sequence', 'step');
const base = { epsLow: 0.2, epsHigh: 0.28, kl: 0.01 };

describe('policy loss (METHOD 8)', () => {
  test('tokens outside the mask change nothing, whatever they are', () => {
    fc.assert(
      fc.property(batchTokens, norm, logProb, (batch, lossNorm, other) => {
        const changed = batch.map((tokens) => tokens.map((t) => (t.m === 0 ? { ...t, n: other, a: 9 } : t)));
        const options = { ...base, lossNorm };
        expect(policyLoss(changed.map(rolloutOf), options)).toEqual(
          policyLoss(batch.map(rolloutOf), options),
        );
      }),
      cases,
    );
  });

  test('at the policy that acted the loss is minus the mean advantage, nothing is clipped and the KL is 0', () => {
    fc.assert(
      fc.property(batchTokens, norm, (batch, lossNorm) => {
        const onPolicy = batch.map((tokens) => tokens.map((t) => ({ ...t, o: t.n, f: t.n, a: 0.7 })));
        const result = policyLoss(onPolicy.map(rolloutOf), { ...base, lossNorm });
        const anyMasked = batch.flat().some((t) => t.m === 1);
        expectClose(result, { loss: anyMasked ? -0.7 : 0, kl: 0, clipShare: 0 });
      }),
      cases,
    );
  });

  test('the KL estimate is never negative and clipping never makes the loss smaller', () => {
    fc.assert(
      fc.property(batchTokens, norm, (batch, lossNorm) => {
        const rollouts = batch.map(rolloutOf);
        const clipped = policyLoss(rollouts, { ...base, kl: 0, lossNorm });
        const free = policyLoss(rollouts, { epsLow: 1, epsHigh: 1e6, kl: 0, lossNorm });
        expect(clipped.kl).toBeGreaterThanOrEqual(-1e-15);
        expect(clipped.loss).toBeGreaterThanOrEqual(free.loss - 1e-12);
        expect(free.clipShare).toBe(0);
      }),
      cases,
    );
  });

  test('with one rollout of one span the three norms agree', () => {
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 8 }), (tokens) => {
        const [a, b, c] = (['token', 'sequence', 'step'] as const).map(
          (lossNorm) => policyLoss([rolloutOf(tokens)], { ...base, lossNorm }).loss,
        );
        expectClose([b, c], [a, a]);
      }),
      cases,
    );
  });

  test('the norm token weighs tokens, sequence weighs rollouts, step weighs spans', () => {
    const span = (length: number, a: number) =>
      Array.from({ length }, () => ({ n: -1, o: -1, f: -1, a, m: 1 as const }));
    const long: LossRollout = {
      ...rolloutOf([...span(3, 1), ...span(1, 0)]),
      spans: [
        [0, 3],
        [3, 4],
      ],
    };
    const batch = [long, rolloutOf(span(1, 0))];
    const lossBy = (lossNorm: 'token' | 'sequence' | 'step') =>
      policyLoss(batch, { ...base, kl: 0, lossNorm }).loss;
    expectClose([lossBy('token'), lossBy('sequence'), lossBy('step')], [-3 / 5, -3 / 8, -1 / 3]);
  });

  test('a ratio that overflows, unequal rows and a missing reference are refused by name', () => {
    const one = rolloutOf([{ n: 0, o: -1000, f: 0, a: 1, m: 1 }]);
    expect(() => policyLoss([one], { ...base, lossNorm: 'token' })).toThrow(
      'probability ratio must be finite',
    );
    expect(() => policyLoss([{ ...one, mask: [] }], { ...base, lossNorm: 'token' })).toThrow(
      'length of mask',
    );
    const { refLogProbs: _, ...withoutReference } = one;
    expect(() => policyLoss([withoutReference], { ...base, lossNorm: 'token' })).toThrow(
      'length of refLogProbs',
    );
  });
});

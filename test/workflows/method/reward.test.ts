import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trajectoryEvidence } from '../../../workflows/method/evidence.ts';
import { discountedReturns } from '../../../workflows/method/returns.ts';
import { stepReward } from '../../../workflows/method/reward.ts';
import { verifierScore } from '../../../workflows/method/verifier-score.ts';
import { cases, paper, score } from './arbitraries.ts';
import { expectClose } from './close.ts';

const weighted = fc.record({
  weight: fc.integer({ min: -1000, max: 1000 }).map((n) => n / 1000),
  pYes: score,
});
const sheet = fc.array(weighted, { maxLength: 12 });
const options = fc.record({
  normaliser: fc.constantFrom<'max1' | 'sumAbs'>('max1', 'sumAbs'),
  verifierScoreMode: fc.constantFrom<'signed' | 'yesOnly'>('signed', 'yesOnly'),
});

describe('verifier score and reward', () => {
  test('the score lies in [-1, 1] under every option', () => {
    fc.assert(
      fc.property(sheet, options, (answers, chosen) => {
        expect(Math.abs(verifierScore(answers, chosen))).toBeLessThanOrEqual(1);
      }),
      cases,
    );
  });

  test('max1 never exceeds the weighted mean, and equals it once the weights sum to 1', () => {
    fc.assert(
      fc.property(sheet, (answers) => {
        const [max1, mean] = (['max1', 'sumAbs'] as const).map((normaliser) =>
          verifierScore(answers, { normaliser, verifierScoreMode: 'signed' }),
        );
        const total = answers.reduce((sum, { weight }) => sum + Math.abs(weight), 0);
        expect(Math.abs(max1 ?? 2)).toBeLessThanOrEqual(Math.abs(mean ?? 0) + 1e-12);
        if (total >= 1) expect(max1).toBe(mean);
      }),
      cases,
    );
  });

  test('the opposite answers to every question give the opposite signed score', () => {
    fc.assert(
      fc.property(sheet, (answers) => {
        const opposite = answers.map((a) => ({ ...a, pYes: 1 - a.pYes }));
        expectClose(verifierScore(opposite, paper), -verifierScore(answers, paper));
      }),
      cases,
    );
  });

  test('j <= r <= j + beta, and with an empty bank r = j exactly', () => {
    fc.assert(
      fc.property(score, sheet, score, (judge, answers, beta) => {
        const reward = stepReward(judge, verifierScore(answers, paper), beta);
        expect(reward).toBeGreaterThanOrEqual(judge);
        expect(reward).toBeLessThanOrEqual(judge + beta);
        expect(stepReward(judge, verifierScore([], paper), beta)).toBe(judge);
      }),
      cases,
    );
  });

  test('evidence against a rollout never lowers its reward: only the positive part counts', () => {
    fc.assert(
      fc.property(score, sheet, (judge, answers) => {
        const rVQ = verifierScore(answers, paper);
        if (rVQ <= 0) expect(stepReward(judge, rVQ, 0.15)).toBe(judge);
        else expect(stepReward(judge, rVQ, 0.15)).toBeCloseTo(judge + 0.15 * rVQ, 12);
      }),
      cases,
    );
  });

  test('values outside their ranges are refused by name', () => {
    expect(() => stepReward(1.5, 0, 0.15)).toThrow('judge must be');
    expect(() => stepReward(0.5, Number.NaN, 0.15)).toThrow('verifierScore must be');
    expect(() => verifierScore([{ weight: 2, pYes: 1 }], paper)).toThrow('weight must be');
    expect(() => verifierScore([{ weight: 1, pYes: -0.1 }], paper)).toThrow('pYes must be');
  });

  test('a rollout without URL states has evidence 0, and evidence is a mean over states', () => {
    expect(trajectoryEvidence([])).toBe(0);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 1 }), (hundredths) => {
        const scores = hundredths.map((n) => n / 100);
        const evidence = trajectoryEvidence(scores);
        expect(evidence).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-12);
        expect(evidence).toBeLessThanOrEqual(Math.max(...scores) + 1e-12);
      }),
      cases,
    );
  });
});

describe('returns (METHOD 4.3)', () => {
  const rewards = fc.array(score, { maxLength: 40 });

  test('every return is its reward plus the discounted next one', () => {
    fc.assert(
      fc.property(rewards, score, (r, gamma) => {
        const sum = discountedReturns(r, gamma, 'sum');
        for (const [t, value] of sum.entries()) expectClose(value, (r[t] ?? 0) + gamma * (sum[t + 1] ?? 0));
      }),
      cases,
    );
  });

  test('the mean return lies between the smallest and largest reward to come; the sum pays for length', () => {
    fc.assert(
      fc.property(rewards, (r) => {
        const [sum, mean] = [discountedReturns(r, 0.95, 'sum'), discountedReturns(r, 0.95, 'mean')];
        for (const [t, value] of mean.entries()) {
          const rest = r.slice(t);
          expect(value).toBeGreaterThanOrEqual(Math.min(...rest) - 1e-12);
          expect(value).toBeLessThanOrEqual(Math.max(...rest) + 1e-12);
          expect(sum[t]).toBeGreaterThanOrEqual(value - 1e-12);
        }
      }),
      cases,
    );
  });

  test('a reward that is not finite is refused, and so is a sum that overflows', () => {
    expect(() => discountedReturns([0.5, Number.NaN], 0.95, 'sum')).toThrow('reward must be finite');
    expect(() => discountedReturns([1e308, 1e308], 1, 'sum')).toThrow('return must be finite');
  });
});

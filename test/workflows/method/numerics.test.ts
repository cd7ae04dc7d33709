import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextAlpha } from '../../../workflows/method/aci.ts';
import { stratifiedAdvantages } from '../../../workflows/method/advantage.ts';
import { deficiency, groupDeficiency } from '../../../workflows/method/deficiency.ts';
import { cosine } from '../../../workflows/method/duplicates.ts';
import { selectByEBh } from '../../../workflows/method/e-bh.ts';
import { trajectoryEvidence } from '../../../workflows/method/evidence.ts';
import { groupEvidence } from '../../../workflows/method/group-evidence.ts';
import { plainLift } from '../../../workflows/method/lift.ts';
import { policyLoss } from '../../../workflows/method/loss.ts';
import { mergeAdapters } from '../../../workflows/method/merge-adapters.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { pairedInterval, wilson } from '../../../workflows/method/rates.ts';
import { recalibrate } from '../../../workflows/method/recalibrate.ts';
import { discountedReturns } from '../../../workflows/method/returns.ts';
import { stepReward } from '../../../workflows/method/reward.ts';
import { successAfterComparison, voteDistribution } from '../../../workflows/method/selection.ts';
import { studentQuantile } from '../../../workflows/method/student.ts';
import { tokenAdvantages } from '../../../workflows/method/token-advantage.ts';
import { emptyTracker, explainUpdate } from '../../../workflows/method/tracker.ts';
import type { TrackerObservation } from '../../../workflows/method/types.ts';
import { verifierScore } from '../../../workflows/method/verifier-score.ts';
import { cases, cell, paper } from './arbitraries.ts';

/**
 * An oracle of METHOD 2.2 in integers: scores are thousandths, ratios are fixed-point numbers of 160 bits, wealth is
 * a 256-bit mantissa with a binary exponent. It shares no arithmetic with the code under test.
 */
class ExactTracker {
  n1 = 0n;
  n0 = 0n;
  thousandths1 = 0n;
  thousandths0 = 0n;
  sumC = 0n;
  sumV = 0n;
  readonly wealthFor = paper.grid.map(() => new Product());
  readonly wealthAgainst = paper.grid.map(() => new Product());
  readonly decayed = { N1: 0n, N0: 0n, S1: 0n, S0: 0n, X: 0n, Q: 0n };
  /** Thousandths: eta (alpha* - err) is +1 or -9 of them. */
  alpha = 100n;

  add(observations: readonly TrackerObservation[], err: 0 | 1 | null): void {
    const m = BigInt(observations.length);
    const answers = observations.map((o) => BigInt(o.pYes));
    const scores = observations.map((o) => BigInt(Math.round(o.judge * 1000)));
    const [n1, all] = [sumOf(answers), sumOf(scores)];
    const s1 = sumOf(scores.map((s, i) => s * (answers[i] ?? 0n)));
    this.n1 += n1;
    this.n0 += m - n1;
    this.thousandths1 += s1;
    this.thousandths0 += all - s1;

    const centredAnswers = answers.map((a) => m * a - n1);
    const centredScores = scores.map((s) => m * s - all);
    const C = dot(centredAnswers, centredScores);
    const [low, high] = [centredAnswers.toSorted(ascending), centredScores.toSorted(ascending)];
    const B = max(abs(dot(low, high)), abs(dot(low, high.toReversed())));
    const informative = B > 0n;
    if (informative) {
      this.sumC += (C * units) / (m * m);
      this.sumV += (dot(centredAnswers, centredAnswers) * units) / (m * m);
    }
    this.decay({ N1: n1 * one, N0: (m - n1) * one, S1: (s1 * one) / 1000n, S0: ((all - s1) * one) / 1000n });
    if (informative) this.bet((C * one) / B);
    if (err !== null) this.alpha = err === 1 ? this.alpha - 9n : min(200n, this.alpha + 1n);
  }

  private decay(added: Record<'N1' | 'N0' | 'S1' | 'S0', bigint>): void {
    for (const name of ['N1', 'N0', 'S1', 'S0'] as const) {
      this.decayed[name] = (this.decayed[name] * 97n) / 100n + added[name];
    }
  }

  private bet(x: bigint): void {
    for (const [k, tenths] of [2n, 5n, 9n].entries()) {
      this.wealthFor[k]?.multiply(one + (x * tenths) / 10n);
      this.wealthAgainst[k]?.multiply(one - (x * tenths) / 10n);
    }
    this.decayed.X = (this.decayed.X * 97n) / 100n + x;
    this.decayed.Q = (this.decayed.Q * 9409n) / 10_000n + (x * x) / one;
  }
}

/** A long product of fixed-point factors; its logarithm is read once, at the end. */
class Product {
  private mantissa = 1n << 256n;
  private exponent = 0;

  multiply(factor: bigint): void {
    this.mantissa = (this.mantissa * factor) >> fractionBits;
    while (this.mantissa < 1n << 255n) {
      this.mantissa <<= 1n;
      this.exponent -= 1;
    }
    while (this.mantissa >= 1n << 257n) {
      this.mantissa >>= 1n;
      this.exponent += 1;
    }
  }

  log(): number {
    return Math.log(Number(this.mantissa >> 156n) / 2 ** 100) + this.exponent * Math.LN2;
  }
}

const fractionBits = 160n;
const one = 1n << fractionBits;
/** Units of C and V: exact for every group of up to 8, whose squares divide lcm(1..8)². */
const units = 840n * 840n;
const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);
const dot = (a: readonly bigint[], b: readonly bigint[]): bigint => sumOf(a.map((x, i) => x * (b[i] ?? 0n)));
const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const abs = (x: bigint): bigint => (x < 0n ? -x : x);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Groups of 1 to 8 with a weak real signal: about 10⁶ observations in all. */
function* stream(total: number): Generator<TrackerObservation[]> {
  const random = randomGenerator(['numerics']);
  for (let seen = 0; seen < total; ) {
    const size = 1 + random.below(8);
    seen += size;
    yield Array.from({ length: size }, () => {
      const pYes = random.below(2);
      return { pYes, judge: (random.below(960) + 40 * pYes) / 1000 };
    });
  }
}

describe('numerics', () => {
  test('after a million observations every sum agrees with an exact oracle', { timeout: 120_000 }, () => {
    let tracker = emptyTracker({ ...cell, polarity: 1 }, paper);
    const exact = new ExactTracker();
    for (const observations of stream(1_000_000)) {
      const update = explainUpdate(tracker, observations, paper);
      tracker = update.tracker;
      exact.add(observations, update.forecast?.err ?? null);
    }
    const fixed = (value: bigint): number => Number(value) / 2 ** 160;
    expect([tracker.n1, tracker.n0]).toEqual([Number(exact.n1), Number(exact.n0)]);
    expect(tracker.n).toBeGreaterThanOrEqual(1_000_000);
    const relative: [string, number, number][] = [
      ['S1', tracker.S1, Number(exact.thousandths1) / 1000],
      ['S0', tracker.S0, Number(exact.thousandths0) / 1000],
      ['sumC', tracker.sumC, Number(exact.sumC) / Number(units * 1000n)],
      ['sumV', tracker.sumV, Number(exact.sumV) / Number(units)],
      ...paper.grid.map((_, k): [string, number, number] => [
        `logWp[${k}]`,
        tracker.logWp[k] ?? Number.NaN,
        exact.wealthFor[k]?.log() ?? 0,
      ]),
      ...paper.grid.map((_, k): [string, number, number] => [
        `logWm[${k}]`,
        tracker.logWm[k] ?? Number.NaN,
        exact.wealthAgainst[k]?.log() ?? 0,
      ]),
      ['ewN1', tracker.ewN1, fixed(exact.decayed.N1)],
      ['ewN0', tracker.ewN0, fixed(exact.decayed.N0)],
      ['ewS1', tracker.ewS1, fixed(exact.decayed.S1)],
      ['ewS0', tracker.ewS0, fixed(exact.decayed.S0)],
      ['ewX', tracker.ewX, fixed(exact.decayed.X)],
      ['ewQ', tracker.ewQ, fixed(exact.decayed.Q)],
      ['alpha', tracker.alpha, Number(exact.alpha) / 1000],
    ];
    for (const [name, actual, expected] of relative) {
      const error = Math.abs(actual - expected) / Math.max(1, Math.abs(expected));
      expect(error, `${name}: ${actual} against ${expected}`).toBeLessThan(1e-11);
    }
  });
});

/** Ordinary values, values at and beyond the edges of every range, and values that are no number. */
const any = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  fc.constantFrom(0, 1, -1, 2, 0.5),
  fc.constantFrom(1e308, -1e308, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.double(),
);
const at = { hostKey: 'a', pathKey: 'a/' };
const tracked = { ...cell, polarity: 1 } as const;

/** Every function of the method that takes numbers from outside, fed from one list. */
const functions: Readonly<Record<string, (v: number[]) => unknown>> = {
  updateTracker: ([p = 0, s = 0, q = 0, u = 0]) =>
    explainUpdate(
      emptyTracker(tracked, paper),
      [
        { pYes: p, judge: s },
        { pYes: q, judge: u },
      ],
      paper,
    ),
  groupEvidence: ([p = 0, s = 0, q = 0, u = 0]) =>
    groupEvidence(
      [
        { pYes: p, judge: s },
        { pYes: q, judge: u },
      ],
      paper,
    ),
  plainLift: ([p = 0, s = 0, q = 0, u = 0]) =>
    plainLift([
      { pYes: p, judge: s },
      { pYes: q, judge: u },
    ]),
  nextAlpha: ([alpha = 0]) => nextAlpha(alpha, 1, paper),
  selectByEBh: (v) => selectByEBh(v, 0.1),
  verifierScore: ([w = 0, p = 0, x = 0, q = 0]) =>
    verifierScore(
      [
        { weight: w, pYes: p },
        { weight: x, pYes: q },
      ],
      { ...paper, normaliser: 'sumAbs' },
    ),
  stepReward: ([j = 0, r = 0, beta = 0]) => stepReward(j, r, beta),
  discountedReturns: ([gamma = 0, ...r]) => [
    discountedReturns(r, gamma, 'sum'),
    discountedReturns(r, gamma, 'mean'),
  ],
  stratifiedAdvantages: ([a = 0, b = 0, c = 0, d = 0]) =>
    stratifiedAdvantages(
      [
        { returns: [a], states: [at], score: c },
        { returns: [b], states: [at], score: d },
      ],
      paper,
    ),
  tokenAdvantages: ([length = 0, start = 0, end = 0, value = 0]) =>
    tokenAdvantages(Math.min(length, 100), [[start, end]], [value]),
  policyLoss: ([n = 0, o = 0, f = 0, a = 0]) =>
    policyLoss([{ newLogProbs: [n], oldLogProbs: [o], refLogProbs: [f], advantages: [a], mask: [1] }], {
      lossNorm: 'token',
      epsLow: 0.2,
      epsHigh: 0.2,
      kl: 0.01,
    }),
  trajectoryEvidence,
  deficiency: ([a = 0, b = 0, v = 0, w = 0]) => deficiency([groupDeficiency([a, b], [v, w], paper)]),
  cosine: ([a = 0, b = 0, c = 0, d = 0]) => cosine([a, b], [c, d]),
  mergeAdapters: ([a = 0, b = 0, c = 0, d = 0]) =>
    mergeAdapters(
      [
        { A: [[a]], B: [[b]] },
        { A: [[c]], B: [[d]] },
      ],
      'product',
    ),
  voteDistribution: ([d = 0, temperature = 0]) => voteDistribution(d, temperature),
  successAfterComparison: ([a = 0, b = 0, c = 0, d = 0]) =>
    successAfterComparison({
      ...{ incumbentSucceeds: a, onlyIncumbent: b, onlyChallenger: c, swapGivenBetter: d, swapGivenWorse: d },
    }),
  recalibrate: ([p = 0, q = 0]) =>
    recalibrate(
      tracked,
      [
        { taskId: 't', pYes: p, passed: true },
        { taskId: 't', pYes: q, passed: false },
      ],
      paper,
      randomGenerator([]),
    ),
  wilson: ([k = 0, n = 0]) => wilson(k, n),
  pairedInterval: ([a = 0, b = 0, c = 0, d = 0]) =>
    pairedInterval([
      [a, b],
      [c, d],
    ]),
  studentQuantile: ([p = 0, df = 0]) => studentQuantile(p, df),
};

/** Every number of a result, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('whatever comes in', () => {
  test.each(Object.keys(functions))('%s returns finite numbers or names the value it refuses', (name) => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 4, maxLength: 4 }), (values) => {
        try {
          for (const result of numbersIn(functions[name]?.(values)))
            expect(result).toSatisfy(Number.isFinite);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          expect(error.message).toMatch(/ must be .*, but is /);
        }
      }),
      cases,
    );
  });
});

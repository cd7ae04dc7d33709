import { unit } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';
import { mean } from './mean.ts';
import type { RandomGenerator } from './random.ts';
import type { Cell, Polarity, RecalibratedCertificate } from './types.ts';

/** One rollout of the sample: the base verifier's YES probability and the grader's verdict. */
export interface RecalibrationSample {
  readonly taskId: string;
  readonly pYes: number;
  readonly passed: boolean;
}

export interface Recalibration {
  readonly certificate: RecalibratedCertificate;
  /** Polarity after the resign rule. */
  readonly polarity: Polarity;
  /** The declared polarity and the measured lift disagree. */
  readonly mismatch: boolean;
  /** Permutation p-value under the guard, else null. */
  readonly pValue: number | null;
}

export type RecalibrationOptions = Pick<
  Hyperparameters,
  'liftMin' | 'alphaStar' | 'recalibrationGuard' | 'polarityMismatch'
>;

const permutations = 999;

/**
 * METHOD 7: weight of one question on another benchmark, from the base verifier's own probabilities. Not the
 * training lift: the two scales never share a snapshot. `random` is consulted only by the guard.
 */
export function recalibrate(
  question: Cell & { readonly polarity: Polarity },
  sample: readonly RecalibrationSample[],
  options: RecalibrationOptions,
  random: RandomGenerator,
): Recalibration {
  for (const { pYes } of sample) unit('pYes', pYes);
  const lift = recalibratedLift(sample);
  const sign = lift === null ? 0 : Math.sign(lift);
  const mismatch = sign !== 0 && sign !== question.polarity;
  const pValue = options.recalibrationGuard && lift !== null ? permutationPValue(sample, lift, random) : null;

  const large = lift !== null && Math.abs(lift) >= options.liftMin;
  const credible = pValue === null || pValue <= options.alphaStar;
  const vetoed = large && credible && mismatch && options.polarityMismatch === 'veto';
  const certified = large && credible && !vetoed;
  const { qid, version, tier, key } = question;
  return {
    certificate: {
      schema: 1,
      ...{ qid, version, tier, key },
      liftKind: 'recalibrated',
      weight: certified ? lift : 0,
      lift,
      n: sample.length,
      vetoed,
      reasons: [
        ...(large ? [] : (['lift'] as const)),
        ...(credible ? [] : (['evidence'] as const)),
        ...(vetoed ? (['vetoed'] as const) : []),
      ],
    },
    polarity: certified ? (lift > 0 ? 1 : -1) : question.polarity,
    mismatch,
    pValue,
  };
}

/** Mean YES probability of the passes minus that of the fails; null if either is missing. */
export function recalibratedLift(
  sample: readonly Pick<RecalibrationSample, 'pYes' | 'passed'>[],
): number | null {
  const meanOf = (passed: boolean): number | null =>
    mean(sample.filter((s) => s.passed === passed).map((s) => s.pYes));
  const [pass, fail] = [meanOf(true), meanOf(false)];
  return pass === null || fail === null ? null : pass - fail;
}

/**
 * The floor alone passes 7 of 10 useless questions on small samples. Verdicts are permuted within tasks, or over
 * the whole sample where every task has one rollout.
 */
function permutationPValue(
  sample: readonly RecalibrationSample[],
  lift: number,
  random: RandomGenerator,
): number {
  const byTask = Map.groupBy(sample, (s) => s.taskId);
  const blocks = byTask.size === sample.length ? [sample] : [...byTask.values()];
  const passes = sample.filter((s) => s.passed).length;
  const total = sumOf(sample.map((s) => s.pYes));
  let asLarge = 0;
  for (let i = 0; i < permutations; i++) {
    const passed = sumOf(blocks.map((block) => permutedPassSum(block, random)));
    const permutedLift = passed / passes - (total - passed) / (sample.length - passes);
    if (Math.abs(permutedLift) >= Math.abs(lift) - 1e-12) asLarge += 1;
  }
  return (1 + asLarge) / (permutations + 1);
}

/** Sum of the YES probabilities that meet a pass when the block's verdicts are dealt anew. */
function permutedPassSum(block: readonly RecalibrationSample[], random: RandomGenerator): number {
  const verdicts = random.shuffle(block.map((s) => s.passed));
  return sumOf(block.map((s, k) => (verdicts[k] ? s.pYes : 0)));
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

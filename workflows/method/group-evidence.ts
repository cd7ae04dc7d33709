import { unit } from './checks.ts';
import type { CertifierConstants, TrackerObservation } from './types.ts';

export interface GroupEvidence {
  /** Cross product of centred answers and scores. */
  readonly C: number;
  readonly V: number;
  /** Largest |C| that any assignment of the answers to the scores could give. */
  readonly B: number;
  /** C/B in [-1, 1]; 0 where the group is not informative. */
  readonly x: number;
  readonly informative: boolean;
}

/** The hard answer of METHOD 1.1: a = 1[p >= 0.5]. */
export const hardAnswer = (pYes: number): 0 | 1 => (pYes >= 0.5 ? 1 : 0);

/**
 * METHOD 2.2, steps 1 to 3: what one group says about the lift, divided by the most it could have said. Under
 * exchangeable answers the mean of x over all assignments is 0 (2.4), which makes it a fair bet.
 */
export function groupEvidence(
  observations: readonly TrackerObservation[],
  constants: Pick<CertifierConstants, 'bEps'>,
): GroupEvidence {
  const answers = centre(observations.map((o) => hardAnswer(unit('pYes', o.pYes))));
  const scores = centre(observations.map((o) => unit('judge', o.judge)));
  const C = dot(answers, scores);
  const V = dot(answers, answers);
  const B = permutationBound(answers, scores);
  const informative = V > 0 && B > constants.bEps;
  const x = informative ? Math.min(1, Math.max(-1, C / B)) : 0;
  return { C, V, B, x, informative };
}

/** Rearrangement inequality: equally sorted vectors have the largest product sum, oppositely sorted the smallest. */
function permutationBound(left: readonly number[], right: readonly number[]): number {
  const a = left.toSorted(ascending);
  const b = right.toSorted(ascending);
  return Math.max(Math.abs(dot(a, b)), Math.abs(dot(a, b.reverse())));
}

function centre(values: readonly number[]): number[] {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  return values.map((value) => value - mean);
}

function dot(left: readonly number[], right: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += (left[i] ?? 0) * (right[i] ?? 0);
  return sum;
}

const ascending = (a: number, b: number): number => a - b;

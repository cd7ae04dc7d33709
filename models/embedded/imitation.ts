/** Fits base weights to demonstrations: softmax regression by full-batch gradient descent. */
import type { AdapterShape } from './adapter.ts';
import { type BaseWeights, candidateLogProbs, type DecisionFeatures, scoreDirection } from './scoring.ts';

/** One decision of somebody who knows the solution. */
export interface Demonstration {
  readonly features: DecisionFeatures;
  /** Index of the candidate that was taken. */
  readonly chosen: number;
}

export interface ImitationSettings {
  /** Few of them leave the policy weak. */
  readonly epochs: number;
  readonly learningRate: number;
  /** L2 penalty per step. */
  readonly weightDecay: number;
  /** Factor on the result: sharpens what little was learnt, so that sampling follows it. */
  readonly sharpness: number;
}

/** Deterministic: the sum runs over the demonstrations in the order given. */
export function fitBaseWeights(
  demonstrations: readonly Demonstration[],
  shape: AdapterShape,
  { epochs, learningRate, weightDecay, sharpness }: ImitationSettings,
): BaseWeights {
  const weights = new Float64Array(shape.tasks * shape.candidates);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const gradient = likelihoodGradient(demonstrations, shape, weights);
    for (const [k, slope] of gradient.entries()) {
      const weight = weights[k] ?? 0;
      weights[k] = weight + learningRate * (slope / demonstrations.length - weightDecay * weight);
    }
  }
  return weights.map((weight) => sharpness * weight);
}

function likelihoodGradient(
  demonstrations: readonly Demonstration[],
  shape: AdapterShape,
  weights: BaseWeights,
): Float64Array {
  const gradient = new Float64Array(weights.length);
  for (const { features, chosen } of demonstrations) {
    const logProbs = candidateLogProbs(features, shape, weights, null);
    const direction = scoreDirection(features, chosen, logProbs, shape.candidates);
    for (const row of features.task) {
      const offset = row * shape.candidates;
      for (const [j, change] of direction.entries())
        gradient[offset + j] = (gradient[offset + j] ?? 0) + change;
    }
  }
  return gradient;
}

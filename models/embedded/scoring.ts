/** The embedded policy's arithmetic. All features are 0 or 1, so a vector is the list of those that hold. */
import type { AdapterShape, Factors } from './adapter.ts';

/** Indices of the features that hold, ascending. */
export type ActiveFeatures = readonly number[];

/** What one decision is computed from: the policy's prompt. */
export interface DecisionFeatures {
  readonly task: ActiveFeatures;
  /** One entry per candidate tool call. */
  readonly candidates: readonly ActiveFeatures[];
}

/** Frozen W0, row-major tasks × candidates. */
export type BaseWeights = Float64Array;

/** Log-probability of every candidate at temperature 1 under task × (W0 + A·B) × candidate. */
export function candidateLogProbs(
  features: DecisionFeatures,
  shape: AdapterShape,
  base: BaseWeights,
  adapter: Factors | null,
): number[] {
  const weights = baseRow(features.task, shape, base);
  if (adapter !== null)
    addAdapterRow(weights, projectTask(features.task, shape, adapter.a), shape, adapter.b);
  return logSoftmax(features.candidates.map((candidate) => sumAt(weights, candidate)));
}

/** Aᵀ·t, one value per rank. */
export function projectTask(task: ActiveFeatures, shape: AdapterShape, a: Float64Array): Float64Array {
  const projected = new Float64Array(shape.rank);
  for (const row of task) {
    for (let r = 0; r < shape.rank; r++) projected[r] = (projected[r] ?? 0) + (a[row * shape.rank + r] ?? 0);
  }
  return projected;
}

/** Numerically safe; the largest score may be any finite number. */
export function logSoftmax(scores: readonly number[]): number[] {
  const top = Math.max(...scores);
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - top);
  const logSum = top + Math.log(sum);
  return scores.map((score) => score - logSum);
}

/** Features of the chosen candidate minus their mean under the policy: the derivative of its log-probability. */
export function scoreDirection(
  { candidates }: DecisionFeatures,
  chosen: number,
  logProbs: readonly number[],
  width: number,
): Float64Array {
  const direction = new Float64Array(width);
  for (const [index, candidate] of candidates.entries()) {
    const change = (index === chosen ? 1 : 0) - Math.exp(logProbs[index] ?? Number.NEGATIVE_INFINITY);
    for (const j of candidate) direction[j] = (direction[j] ?? 0) + change;
  }
  return direction;
}

/** W0ᵀ·t, one value per candidate feature. */
function baseRow(task: ActiveFeatures, shape: AdapterShape, base: BaseWeights): Float64Array {
  const weights = new Float64Array(shape.candidates);
  for (const row of task) {
    const offset = row * shape.candidates;
    for (let j = 0; j < shape.candidates; j++) weights[j] = (weights[j] ?? 0) + (base[offset + j] ?? 0);
  }
  return weights;
}

function addAdapterRow(
  weights: Float64Array,
  projected: Float64Array,
  shape: AdapterShape,
  b: Float64Array,
): void {
  for (let r = 0; r < shape.rank; r++) {
    const factor = projected[r] ?? 0;
    const offset = r * shape.candidates;
    for (let j = 0; j < shape.candidates; j++) weights[j] = (weights[j] ?? 0) + factor * (b[offset + j] ?? 0);
  }
}

function sumAt(weights: Float64Array, indices: ActiveFeatures): number {
  let sum = 0;
  for (const index of indices) sum += weights[index] ?? 0;
  return sum;
}

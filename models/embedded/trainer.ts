/** Learns the adapter of the embedded policy: one clipped policy-gradient step per batch (METHOD 8), with Adam. */
import type { BatchStep, ModelIdentity, Trainer, TrainerMetrics, TrainerSettings } from '../contract.ts';
import {
  type Adapter,
  type AdapterShape,
  createAdapter,
  decodeAdapter,
  encodeAdapter,
  type Factors,
  mergeAdapters,
  zeroFactors,
} from './adapter.ts';
import type { BasePolicy } from './base-policy.ts';
import { parseDecisionFeatures } from './prompt.ts';
import { candidateLogProbs, type DecisionFeatures, projectTask, scoreDirection } from './scoring.ts';

/** One masked token: the embedded policy has one a step, the index of the chosen candidate. */
export interface TrainingExample {
  readonly features: DecisionFeatures;
  readonly chosen: number;
  readonly oldLogProb: number;
  readonly advantage: number;
  /** Share of this token in the loss; the shares of a batch sum to 1. */
  readonly share: number;
}

export interface LossAndGradient {
  readonly gradient: Factors;
  readonly loss: number;
  readonly kl: number;
  readonly clipShare: number;
}

const adam = { meanDecay: 0.8, squareDecay: 0.99, epsilon: 1e-8 } as const;

export function createEmbeddedTrainer(base: BasePolicy): Trainer {
  const expected = { base: base.digest, shape: base.shape };
  const identity: ModelIdentity = { provider: 'embedded', model: 'adapter-adam', revision: base.digest };
  return {
    identity,
    initialAdapter: async (seed) => encodeAdapter(createAdapter(base.digest, base.shape, seed)),
    update: async ({ batch, adapter, readPrompt, settings }) => {
      const current = decodeAdapter(adapter, expected);
      const examples = await readExamples(batch.steps, readPrompt, settings.lossNorm);
      const { gradient, ...measured } = lossAndGradient(examples, current.weights, base, settings);
      const gradientNorm = norm(gradient);
      const scale = clipScale(gradientNorm, settings.maxGradientNorm);
      const metrics: TrainerMetrics = { ...measured, gradientNorm };
      const next =
        examples.length === 0 ? current : applyAdam(current, gradient, scale, settings.learningRate);
      return { adapter: encodeAdapter(next), metrics };
    },
    merge: async (adapters, how) => {
      const merged = mergeAdapters(
        adapters.map((bytes) => decodeAdapter(bytes, expected)),
        how,
      );
      return { adapter: encodeAdapter(merged.adapter), averagingError: merged.averagingError };
    },
  };
}

/** Steps without a tool call have no token in the loss and are left out. */
async function readExamples(
  steps: readonly BatchStep[],
  readPrompt: (digest: string) => Promise<unknown>,
  lossNorm: TrainerSettings['lossNorm'],
): Promise<TrainingExample[]> {
  const masked = steps.filter((step) => step.toolCallSpan !== null);
  const shares = tokenShares(masked, lossNorm);
  return Promise.all(
    masked.map(async (step, index) => ({
      features: parseDecisionFeatures(await readPrompt(step.promptDigest)),
      ...singleToken(step),
      advantage: step.advantage,
      share: shares[index] ?? 0,
    })),
  );
}

function singleToken(step: BatchStep): { chosen: number; oldLogProb: number } {
  const [chosen, ...moreTokens] = step.tokenIds;
  const oldLogProb = step.oldLogProbs[0];
  if (chosen === undefined || oldLogProb === undefined || moreTokens.length > 0) {
    throw new Error(
      `Step ${step.index} of rollout ${step.rolloutId} has ${step.tokenIds.length} tokens: the embedded trainer ` +
        'learns from the embedded policy only, which has one a step.',
    );
  }
  return { chosen, oldLogProb };
}

/** METHOD 8 with one token a step, where `token` and `step` coincide; `sequence` gives each rollout the same. */
function tokenShares(steps: readonly BatchStep[], lossNorm: TrainerSettings['lossNorm']): number[] {
  if (lossNorm !== 'sequence') return steps.map(() => 1 / steps.length);
  const lengths = new Map<string, number>();
  for (const { rolloutId } of steps) lengths.set(rolloutId, (lengths.get(rolloutId) ?? 0) + 1);
  return steps.map(({ rolloutId }) => 1 / (lengths.size * (lengths.get(rolloutId) ?? 1)));
}

/** Loss of METHOD 8 with its gradient in A and B. `kl` in the result is measured against the acting policy. */
export function lossAndGradient(
  examples: readonly TrainingExample[],
  weights: Factors,
  base: BasePolicy,
  settings: Pick<TrainerSettings, 'epsLow' | 'epsHigh' | 'kl'>,
): LossAndGradient {
  const gradient = zeroFactors(base.shape);
  let loss = 0;
  let kl = 0;
  let clipped = 0;
  for (const example of examples) {
    const logProbs = candidateLogProbs(example.features, base.shape, base.weights, weights);
    const chosenLogProb = logProbs[example.chosen];
    if (chosenLogProb === undefined) {
      throw new Error(`Token ${example.chosen} names none of the prompt's ${logProbs.length} candidates.`);
    }
    const reference = settings.kl === 0 ? chosenLogProb : referenceLogProb(example, base);
    const token = tokenLoss(chosenLogProb, example, reference, settings);
    loss += example.share * token.loss;
    kl += klEstimate(example.oldLogProb - chosenLogProb) / examples.length;
    clipped += token.clipped ? 1 : 0;
    addGradient(gradient, example, logProbs, example.share * token.slope, weights, base.shape);
  }
  return { gradient, loss, kl, clipShare: examples.length === 0 ? 0 : clipped / examples.length };
}

/** The reference of the KL term is the base model. */
function referenceLogProb(example: TrainingExample, base: BasePolicy): number {
  return candidateLogProbs(example.features, base.shape, base.weights, null)[example.chosen] ?? 0;
}

/** One token's loss and its derivative by the new log-probability. */
function tokenLoss(
  newLogProb: number,
  { oldLogProb, advantage }: TrainingExample,
  reference: number,
  { epsLow, epsHigh, kl }: Pick<TrainerSettings, 'epsLow' | 'epsHigh' | 'kl'>,
): { loss: number; slope: number; clipped: boolean } {
  const ratio = Math.exp(newLogProb - oldLogProb);
  const bounded = Math.min(Math.max(ratio, 1 - epsLow), 1 + epsHigh);
  const clipped = bounded * advantage < ratio * advantage;
  const gain = clipped ? bounded * advantage : ratio * advantage;
  const slope = (clipped ? 0 : -ratio * advantage) + kl * (1 - Math.exp(reference - newLogProb));
  return { loss: -gain + kl * klEstimate(reference - newLogProb), slope, clipped };
}

/** exp(d) − d − 1, from 0. */
const klEstimate = (difference: number): number => Math.exp(difference) - difference - 1;

/** Chain rule through log-softmax and the bilinear score. */
function addGradient(
  gradient: Factors,
  { features, chosen }: TrainingExample,
  logProbs: readonly number[],
  slope: number,
  weights: Factors,
  shape: AdapterShape,
): void {
  if (slope === 0) return;
  const direction = scoreDirection(features, chosen, logProbs, shape.candidates);
  const projected = projectTask(features.task, shape, weights.a);
  for (let r = 0; r < shape.rank; r++) {
    const offset = r * shape.candidates;
    const factor = slope * (projected[r] ?? 0);
    let byA = 0;
    for (let j = 0; j < shape.candidates; j++) {
      const change = direction[j] ?? 0;
      byA += (weights.b[offset + j] ?? 0) * change;
      gradient.b[offset + j] = (gradient.b[offset + j] ?? 0) + factor * change;
    }
    for (const row of features.task) {
      const at = row * shape.rank + r;
      gradient.a[at] = (gradient.a[at] ?? 0) + slope * byA;
    }
  }
}

function norm({ a, b }: Factors): number {
  let sum = 0;
  for (const block of [a, b]) for (const value of block) sum += value * value;
  return Math.sqrt(sum);
}

const clipScale = (gradientNorm: number, limit: number | null): number =>
  limit === null || gradientNorm <= limit ? 1 : limit / gradientNorm;

/** Adam with bias correction; weight decay none. */
function applyAdam(adapter: Adapter, gradient: Factors, scale: number, learningRate: number): Adapter {
  const updates = adapter.updates + 1;
  const meanCorrection = 1 - adam.meanDecay ** updates;
  const squareCorrection = 1 - adam.squareDecay ** updates;
  const next: Adapter = {
    ...adapter,
    updates,
    weights: zeroFactors(adapter.shape),
    firstMoment: zeroFactors(adapter.shape),
    secondMoment: zeroFactors(adapter.shape),
  };
  for (const block of ['a', 'b'] as const) {
    for (const [k, raw] of gradient[block].entries()) {
      const g = scale * raw;
      const mean = adam.meanDecay * (adapter.firstMoment[block][k] ?? 0) + (1 - adam.meanDecay) * g;
      const square =
        adam.squareDecay * (adapter.secondMoment[block][k] ?? 0) + (1 - adam.squareDecay) * g * g;
      const move = mean / meanCorrection / (Math.sqrt(square / squareCorrection) + adam.epsilon);
      next.firstMoment[block][k] = mean;
      next.secondMoment[block][k] = square;
      next.weights[block][k] = (adapter.weights[block][k] ?? 0) - learningRate * move;
    }
  }
  return next;
}

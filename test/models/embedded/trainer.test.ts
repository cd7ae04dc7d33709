import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Batch, BatchStep, TrainerSettings } from '../../../models/contract.ts';
import {
  createAdapter,
  decodeAdapter,
  encodeAdapter,
  type Factors,
} from '../../../models/embedded/adapter.ts';
import { encodeDecisionFeatures } from '../../../models/embedded/prompt.ts';
import { candidateLogProbs, type DecisionFeatures } from '../../../models/embedded/scoring.ts';
import { createEmbeddedTrainer, lossAndGradient } from '../../../models/embedded/trainer.ts';
import { policyLoss } from '../../../workflows/method/loss.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { never, randomDecision, smallBase, smallShape } from './support.ts';

const base = smallBase();
const trainer = createEmbeddedTrainer(base);
const settings: TrainerSettings = {
  learningRate: 0.05,
  epsLow: 0.2,
  epsHigh: 0.28,
  kl: 0.1,
  lossNorm: 'token',
  maxGradientNorm: null,
};

interface Case {
  readonly batch: Batch;
  readonly prompts: readonly DecisionFeatures[];
  readonly adapter: Uint8Array;
  readonly weights: Factors;
}

/** Rollouts of different lengths whose acting policy was a little another one; some steps have no tool call. */
function randomCase(seed: number): Case {
  const random = randomGenerator(['trainer', seed]);
  const adapter = createAdapter(base.digest, smallShape, [seed]);
  for (let k = 0; k < adapter.weights.b.length; k++) adapter.weights.b[k] = 0.3 * random.normal();
  const prompts: DecisionFeatures[] = [];
  const steps: BatchStep[] = [];
  for (const [rollout, length] of [1, 3, 4].entries()) {
    for (let index = 0; index < length; index++) {
      const features = randomDecision(random);
      const chosen = random.below(features.candidates.length);
      const logProb = candidateLogProbs(features, smallShape, base.weights, adapter.weights)[chosen] ?? 0;
      prompts.push(features);
      steps.push({
        rolloutId: `r${rollout}`,
        index,
        promptDigest: String(steps.length),
        tokenIds: [chosen],
        oldLogProbs: [Math.min(-1e-3, logProb + 0.25 * random.normal())],
        toolCallSpan: random.next() < 0.15 && steps.length > 0 ? null : [0, 1],
        advantage: random.normal(),
      });
    }
  }
  const batch: Batch = {
    version: 1,
    runId: 'run',
    shard: 0,
    trainingStep: 0,
    adapterDigest: null,
    steps,
    summary: { reward: 0, verifier: 0, deadShare: 0 },
  };
  return { batch, prompts, adapter: encodeAdapter(adapter), weights: adapter.weights };
}

const update = ({ batch, prompts, adapter }: Case, changes: Partial<TrainerSettings> = {}) =>
  trainer.update(
    {
      batch,
      adapter,
      readPrompt: async (digest) =>
        encodeDecisionFeatures(prompts[Number(digest)] ?? { task: [], candidates: [] }),
      settings: { ...settings, ...changes },
    },
    never,
  );

/** The loss of METHOD 8 by the method's own reference. */
function referenceLoss({ batch, prompts }: Case, weights: Factors, options: TrainerSettings) {
  const rollouts = Map.groupBy(batch.steps, ({ rolloutId }) => rolloutId);
  const logProb = (step: BatchStep, factors: Factors | null): number => {
    const features = prompts[Number(step.promptDigest)] ?? { task: [], candidates: [] };
    return (
      candidateLogProbs(features, smallShape, base.weights, factors)[step.tokenIds[0] ?? -1] ?? Number.NaN
    );
  };
  return policyLoss(
    [...rollouts.values()].map((steps) => ({
      newLogProbs: steps.map((step) => logProb(step, weights)),
      oldLogProbs: steps.map((step) => step.oldLogProbs[0] ?? Number.NaN),
      refLogProbs: steps.map((step) => logProb(step, null)),
      advantages: steps.map(({ advantage }) => advantage),
      mask: steps.map(({ toolCallSpan }) => (toolCallSpan === null ? 0 : 1)),
      spans: steps.flatMap(({ toolCallSpan }, t) => (toolCallSpan === null ? [] : [[t, t + 1] as const])),
    })),
    options,
  );
}

describe('the loss is that of METHOD 8', () => {
  for (const lossNorm of ['token', 'sequence', 'step'] as const) {
    test(`with the norm ${lossNorm}, and so is the clipped share`, async () => {
      for (let seed = 0; seed < 20; seed++) {
        const given = randomCase(seed);
        const { metrics } = await update(given, { lossNorm });
        const reference = referenceLoss(given, given.weights, { ...settings, lossNorm });
        expect(metrics.loss).toBeCloseTo(reference.loss, 12);
        expect(metrics.clipShare).toBeCloseTo(reference.clipShare, 12);
      }
    });
  }

  test('its gradient in A and B agrees with finite differences of the reference', () => {
    for (let seed = 0; seed < 10; seed++) {
      const given = randomCase(seed);
      const examples = given.batch.steps
        .filter(({ toolCallSpan }) => toolCallSpan !== null)
        .map((step, _, all) => ({
          features: given.prompts[Number(step.promptDigest)] ?? { task: [], candidates: [] },
          chosen: step.tokenIds[0] ?? 0,
          oldLogProb: step.oldLogProbs[0] ?? 0,
          advantage: step.advantage,
          share: 1 / all.length,
        }));
      const { gradient } = lossAndGradient(examples, given.weights, base, settings);
      for (const block of ['a', 'b'] as const) {
        for (let k = 0; k < gradient[block].length; k += 3) {
          expect(gradient[block][k]).toBeCloseTo(slopeAt(given, block, k), 5);
        }
      }
    }
  });
});

function slopeAt(given: Case, block: 'a' | 'b', k: number): number {
  const h = 1e-5;
  const lossWith = (shift: number): number => {
    const moved = { a: given.weights.a.slice(), b: given.weights.b.slice() };
    moved[block][k] = (moved[block][k] ?? 0) + shift;
    return referenceLoss(given, moved, settings).loss;
  };
  return (lossWith(h) - lossWith(-h)) / (2 * h);
}

test('the reported divergence is measured against the policy that acted, and is 0 for its own batch', async () => {
  const given = randomCase(3);
  const { metrics } = await update(given);
  const estimates = given.batch.steps
    .filter(({ toolCallSpan }) => toolCallSpan !== null)
    .map((step) => {
      const features = given.prompts[Number(step.promptDigest)] ?? { task: [], candidates: [] };
      const now =
        candidateLogProbs(features, smallShape, base.weights, given.weights)[step.tokenIds[0] ?? -1] ?? 0;
      const difference = (step.oldLogProbs[0] ?? 0) - now;
      return Math.exp(difference) - difference - 1;
    });
  expect(metrics.kl).toBeCloseTo(estimates.reduce((sum, value) => sum + value, 0) / estimates.length, 12);
  expect(metrics.kl).toBeGreaterThan(0);
});

test('an update is a pure function of its request', async () => {
  const given = randomCase(4);
  const [first, second] = [await update(given), await update(given)];
  expect(first.adapter).toEqual(second.adapter);
  expect(first.adapter).not.toEqual(given.adapter);
});

test('a positive advantage makes the chosen call likelier, a negative one less likely', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), async (seed, isGood) => {
      const random = randomGenerator(['one step', seed]);
      const given = randomCase(seed);
      const features: DecisionFeatures = {
        task: [0, random.below(4) + 1],
        candidates: [[0, 1], [2], [3, 4]],
      };
      const chosen = random.below(3);
      const logProb = candidateLogProbs(features, smallShape, base.weights, given.weights)[chosen] ?? 0;
      const step: BatchStep = {
        ...{ rolloutId: 'r', index: 0, promptDigest: '0', toolCallSpan: [0, 1] },
        ...{ tokenIds: [chosen], oldLogProbs: [logProb], advantage: isGood ? 1 : -1 },
      };
      const only: Case = { ...given, batch: { ...given.batch, steps: [step] }, prompts: [features] };
      const { adapter } = await update(only, { kl: 0, learningRate: 0.001 });
      const { weights } = decodeAdapter(adapter, { base: base.digest, shape: smallShape });
      const after = candidateLogProbs(features, smallShape, base.weights, weights)[chosen] ?? 0;
      expect(Math.sign(after - logProb)).toBe(isGood ? 1 : -1);
    }),
  );
});

test('the gradient norm is reported as it was, and the step is taken with the clipped gradient', async () => {
  const given = randomCase(5);
  const [free, clipped] = [await update(given), await update(given, { maxGradientNorm: 1e-3 })];
  expect(clipped.metrics).toEqual(free.metrics);
  const moment = ({ adapter }: { adapter: Uint8Array }) =>
    decodeAdapter(adapter, { base: base.digest, shape: smallShape }).firstMoment;
  const length = ({ a, b }: Factors) => Math.hypot(...a, ...b);
  const ratio = length(moment(clipped)) / length(moment(free));
  expect(ratio).toBeCloseTo(1e-3 / free.metrics.gradientNorm, 9);
});

test('a batch without a tool call changes nothing and has loss 0', async () => {
  const given = randomCase(6);
  const steps = given.batch.steps.map((step) => ({ ...step, toolCallSpan: null }));
  const { adapter, metrics } = await update({ ...given, batch: { ...given.batch, steps } });
  expect(adapter).toEqual(given.adapter);
  expect(metrics).toEqual({ loss: 0, kl: 0, clipShare: 0, gradientNorm: 0 });
});

describe('a batch is refused', () => {
  const given = randomCase(7);
  const withStep = (changes: Partial<BatchStep>): Case => ({
    ...given,
    batch: { ...given.batch, steps: given.batch.steps.map((step) => ({ ...step, ...changes })) },
  });

  test('when its steps have several tokens: they come from another kind of policy', async () => {
    await expect(update(withStep({ tokenIds: [1, 2], oldLogProbs: [-1, -1] }))).rejects.toThrow('2 tokens');
  });

  test('when a token names no candidate', async () => {
    await expect(update(withStep({ tokenIds: [99], toolCallSpan: [0, 1] }))).rejects.toThrow('Token 99');
  });

  test('when a prompt is not one of the embedded policy', async () => {
    const readPrompt = async () => ({ messages: [] });
    const request = { batch: given.batch, adapter: given.adapter, readPrompt, settings };
    await expect(trainer.update(request, never)).rejects.toThrow('not one of the embedded policy');
  });
});

test('shards start from the same bytes, and averaging them changes nothing', async () => {
  const [first, second] = [
    await trainer.initialAdapter([1, 'run']),
    await trainer.initialAdapter([1, 'run']),
  ];
  expect(first).toEqual(second);
  expect(await trainer.merge([first, second], 'average')).toEqual({ adapter: first, averagingError: 0 });
});

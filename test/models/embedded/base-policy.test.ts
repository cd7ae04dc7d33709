import { describe, expect, test } from 'vitest';
import {
  embeddedShape,
  formatBasePolicy,
  loadBasePolicy,
  parseBasePolicy,
} from '../../../models/embedded/base-policy.ts';
import { type Demonstration, fitBaseWeights } from '../../../models/embedded/imitation.ts';
import { candidateLogProbs } from '../../../models/embedded/scoring.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { randomDecision, smallShape } from './support.ts';

describe('the shipped base weights', () => {
  test('belong to the features that this version computes', () => {
    const { weights, shape, digest } = loadBasePolicy();
    expect(shape).toEqual(embeddedShape);
    expect(weights).toHaveLength(shape.tasks * shape.candidates);
    expect(weights.some((weight) => weight !== 0)).toBe(true);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('are written back as they were read, byte for byte', () => {
    const { weights, digest } = loadBasePolicy();
    expect(parseBasePolicy(formatBasePolicy(weights)).digest).toBe(digest);
  });

  test('are refused when a feature has changed its name', () => {
    const text = formatBasePolicy(loadBasePolicy().weights).replace('"always"', '"sometimes"');
    expect(() => parseBasePolicy(text)).toThrow('npm run make-base-policy');
  });
});

describe('imitation', () => {
  const random = randomGenerator(['imitation']);
  const demonstrations: Demonstration[] = Array.from({ length: 12 }, () => {
    const features = randomDecision(random);
    return {
      features: { ...features, task: [0, ...features.task.filter((k) => k > 0)] },
      chosen: random.below(4),
    };
  });
  const settings = { epochs: 1, learningRate: 0.3, weightDecay: 0.001, sharpness: 1 };
  const likelihood = (epochs: number): number => {
    const weights = fitBaseWeights(demonstrations, smallShape, { ...settings, epochs });
    return demonstrations.reduce(
      (sum, { features, chosen }) =>
        sum + (candidateLogProbs(features, smallShape, weights, null)[chosen] ?? 0),
      0,
    );
  };

  test('makes the demonstrated choices likelier with every epoch', () => {
    const curve = [0, 1, 5, 20, 100].map(likelihood);
    expect(curve).toEqual(curve.toSorted((a, b) => a - b));
    expect(new Set(curve).size).toBe(5);
  });

  test('sharpness multiplies the weights and nothing else', () => {
    const [plain, sharp] = [1, 3].map((sharpness) =>
      fitBaseWeights(demonstrations, smallShape, { ...settings, epochs: 10, sharpness }),
    );
    expect(sharp).toEqual(plain?.map((weight) => 3 * weight));
  });
});

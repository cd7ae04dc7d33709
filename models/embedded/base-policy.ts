/** The frozen weights W0 that ship with the project, made by `npm run make-base-policy` from demonstrations. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { AdapterShape } from './adapter.ts';
import { candidateFeatureSpace } from './candidate-features.ts';
import type { BaseWeights } from './scoring.ts';
import { taskFeatureSpace } from './task-features.ts';

export interface BasePolicy {
  readonly weights: BaseWeights;
  readonly shape: AdapterShape;
  /** sha256 of the document: the policy's revision. */
  readonly digest: string;
}

const adapterRank = 8;

/** Weights by feature names, so that a change of the features is noticed. */
const basePolicySchema = z.strictObject({
  version: z.literal(1),
  taskFeatures: z.array(z.string()),
  candidateFeatures: z.array(z.string()),
  /** One row per task feature, one value per candidate feature. */
  weights: z.array(z.array(z.number())),
});

export const embeddedShape: AdapterShape = {
  tasks: taskFeatureSpace.names.length,
  rank: adapterRank,
  candidates: candidateFeatureSpace.names.length,
};

export function loadBasePolicy(): BasePolicy {
  return parseBasePolicy(readFileSync(new URL('./base-policy.json', import.meta.url), 'utf8'));
}

/** Throws when the document belongs to other features than this version computes. */
export function parseBasePolicy(text: string): BasePolicy {
  const document = basePolicySchema.parse(JSON.parse(text));
  const sameFeatures =
    document.taskFeatures.join() === taskFeatureSpace.names.join() &&
    document.candidateFeatures.join() === candidateFeatureSpace.names.join();
  const { tasks, candidates } = embeddedShape;
  const sameShape =
    document.weights.length === tasks && document.weights.every((row) => row.length === candidates);
  if (!sameFeatures || !sameShape) {
    throw new Error(
      'base-policy.json was made for other features: run `npm run make-base-policy` and commit the result.',
    );
  }
  return {
    weights: Float64Array.from(document.weights.flat()),
    shape: embeddedShape,
    digest: createHash('sha256').update(text).digest('hex'),
  };
}

/** The document for these weights, one row a line, in hundredths. */
export function formatBasePolicy(weights: BaseWeights): string {
  const { tasks, candidates } = embeddedShape;
  const rows = Array.from({ length: tasks }, (_, row) => {
    const values = Array.from(weights.subarray(row * candidates, (row + 1) * candidates), roundToHundredths);
    return JSON.stringify(values);
  });
  return [
    '{',
    '"version": 1,',
    `"taskFeatures": ${JSON.stringify(taskFeatureSpace.names)},`,
    `"candidateFeatures": ${JSON.stringify(candidateFeatureSpace.names)},`,
    `"weights": [\n${rows.join(',\n')}\n]`,
    '}\n',
  ].join('\n');
}

/** Adding zero turns a negative one into zero. */
const roundToHundredths = (value: number): number => Math.round(100 * value) / 100 + 0;

import { trainConfigSchema } from '../../activities/run-config.ts';

/** A small training run on embedded parts. */
export const trainConfig = trainConfigSchema.parse({
  kind: 'train',
  benchmark: 'sandbox',
  seed: 1,
  shards: 1,
  steps: 3,
  trainer: { learningRate: 0.05, maxGradientNorm: 1 },
  hyperparameters: {},
});

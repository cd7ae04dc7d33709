/** What a run was told to do: resolved, checked by zod, stored with the run (DESIGN 5). */
import { z } from 'zod';
import {
  checkHyperparameters,
  type Hyperparameters,
  paperHyperparameters,
} from '../workflows/method/hyperparameters.ts';
import { ceilingsSchema, evaluateModelsSchema, trainModelsSchema } from './model-config.ts';

const unit = z.number().min(0).max(1);
const count = z.int().min(1);

const hyperparametersSchema = z
  .strictObject({
    certifier: z.enum(['default', 'strict', 'naive', 'agreement']),
    alphaStar: unit,
    nMin: count,
    liftMin: unit,
    thetaJ: unit,
    eta: unit,
    alphaMax: unit,
    suspend: unit,
    decay: unit,
    zRecent: z.number().min(0),
    grid: z.array(unit).min(1).readonly(),
    bins: count,
    aciWarmup: count,
    bEps: z.number().min(0),
    groupSize: count,
    quorum: count,
    beta: unit,
    gamma: unit,
    normaliser: z.enum(['max1', 'sumAbs']),
    verifierScoreMode: z.enum(['signed', 'yesOnly']),
    returnNorm: z.enum(['sum', 'mean']),
    sdMin: z.number().min(0),
    advEps: z.number().min(0),
    minStratum: count,
    vetoBlocksFallback: z.boolean(),
    blockFallbackAfter: count.nullable(),
    useBank: z.boolean(),
    maxQuestionsPerState: count.nullable(),
    growEverySteps: count,
    growMinQuestions: count,
    growMaxQuestions: count,
    growGroups: count,
    scoreGap: unit,
    evidenceGap: unit,
    retireAfter: count,
    adapterMerge: z.enum(['average', 'product']),
    rolloutBudget: count,
    votes: count,
    orderGuard: z.boolean(),
    voteTemperature: z.number().min(0),
    retryTemperature: z.number().min(0),
    recalibrationGuard: z.boolean(),
    polarityMismatch: z.enum(['resign', 'veto']),
    lossNorm: z.enum(['token', 'sequence', 'step']),
    epsLow: unit,
    epsHigh: z.number().min(0),
    kl: z.number().min(0),
  })
  .partial()
  .transform((given): Hyperparameters => {
    const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return checkHyperparameters({ ...paperHyperparameters, ...set });
  });

const trainerSchema = z.strictObject({
  learningRate: z.number().positive(),
  /** Null: the gradient is not clipped. */
  maxGradientNorm: z.number().positive().nullable(),
});

const common = {
  benchmark: z.string().min(1),
  seed: z.int().min(0),
  /** Fields left out have the paper's value. */
  hyperparameters: hyperparametersSchema,
  ceilings: ceilingsSchema,
};

export const trainConfigSchema = z.strictObject({
  kind: z.literal('train'),
  ...common,
  shards: count,
  /** Training steps of each shard. */
  steps: count,
  trainer: trainerSchema,
  models: trainModelsSchema,
});

export const evaluateConfigSchema = z.strictObject({
  kind: z.literal('evaluate'),
  ...common,
  /** Digest of the adapter that acts; null: the base model. */
  adapterDigest: z.string().nullable(),
  /** Frozen bank that selects; null: the greedy rollout is emitted. */
  bankDigest: z.string().nullable(),
  /** Held-out tasks of one named subset of the benchmark; absent: all of them. */
  suite: z.string().min(1).exactOptional(),
  /** That many of them, dealt evenly over the apps; null: all. */
  taskLimit: count.nullable(),
  /** Evaluation tasks open at the same time. */
  concurrency: count,
  models: evaluateModelsSchema,
});

export const runConfigSchema = z.discriminatedUnion('kind', [trainConfigSchema, evaluateConfigSchema]);

export type TrainConfig = z.infer<typeof trainConfigSchema>;
export type EvaluateConfig = z.infer<typeof evaluateConfigSchema>;
export type RunConfig = z.infer<typeof runConfigSchema>;

import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { experimentModelsSchema } from '../activities/model-config.ts';
import {
  type EvaluateConfig,
  evaluateConfigSchema,
  type TrainConfig,
  trainConfigSchema,
} from '../activities/run-config.ts';
import { PAYLOAD_LIMIT_BYTES } from '../workers/payload-guard.ts';
import type { Settings } from '../workers/settings.ts';
import { readYaml } from './read-yaml.ts';

/** A YAML file of infra/experiments: one training run and the evaluations that go with it. */
export interface Experiment {
  readonly train: TrainConfig;
  readonly evaluation: Pick<EvaluateConfig, 'concurrency' | 'suite' | 'taskLimit' | 'models'>;
  /** Where the file says that benchmarks lie: part of the place, not of the run. */
  readonly place: Pick<Settings, 'waiRoot'>;
}

export interface Overrides {
  readonly seed?: number;
  readonly steps?: number;
}

const fileSchema = trainConfigSchema
  .omit({ kind: true })
  .extend({
    models: experimentModelsSchema,
    hyperparameters: trainConfigSchema.shape.hyperparameters.prefault({}),
    benchmarks: z
      .strictObject({ wai: z.strictObject({ root: z.string().min(1) }).exactOptional() })
      .default({}),
    evaluation: z.strictObject({
      concurrency: evaluateConfigSchema.shape.concurrency,
      suite: evaluateConfigSchema.shape.suite,
      taskLimit: evaluateConfigSchema.shape.taskLimit.default(null),
    }),
  })
  .refine(({ hyperparameters }) => largestSelectionBytes(hyperparameters) < PAYLOAD_LIMIT_BYTES, {
    path: ['hyperparameters', 'rolloutBudget'],
    message: 'so many votes about so many rollouts fit no record of a selection: take fewer of either',
  });

/** A task names its rollouts and votes in one payload, for whose size no task should pause when all is paid for. */
function largestSelectionBytes({ rolloutBudget, votes }: TrainConfig['hyperparameters']): number {
  const bytesOf = (value: object) => JSON.stringify(value).length;
  const names = { runId: 'r'.repeat(64), taskId: 't'.repeat(100), selected: rolloutBudget, comparisons: [] };
  const comparison = { incumbent: rolloutBudget, challenger: rolloutBudget, swap: false, votes: [] };
  const comparisonBytes = bytesOf(comparison) + votes * '"INVALID",'.length;
  return bytesOf(names) + (rolloutBudget - 1) * comparisonBytes;
}

/** Throws with the file's name and each offending field. */
export function readExperiment(path: string, overrides: Overrides = {}): Experiment {
  const { evaluation, models, benchmarks, ...rest } = readYaml(path, fileSchema);
  const train = trainConfigSchema.parse({ kind: 'train', ...rest, models: models.train, ...overrides });
  const { wai } = benchmarks;
  return {
    train,
    evaluation: { ...evaluation, models: models.evaluate },
    place: wai === undefined ? {} : { waiRoot: resolve(dirname(path), wai.root) },
  };
}

/** The settings where an experiment names its place; the environment has the last word. */
export function settingsFor(settings: Settings, { place }: Experiment): Settings {
  return { ...place, ...settings };
}

/** Vanilla GRPO: the same judge, no bank. */
export function withoutBank({ train, ...rest }: Experiment): Experiment {
  return { ...rest, train: { ...train, hyperparameters: { ...train.hyperparameters, useBank: false } } };
}

/** `rolloutBudget` 1 evaluates the greedy rollout alone. */
export function evaluationOf(
  { train, evaluation }: Experiment,
  what: {
    readonly adapterDigest: string | null;
    readonly bankDigest: string | null;
    readonly rolloutBudget: number;
  },
): EvaluateConfig {
  const { rolloutBudget, ...digests } = what;
  const { benchmark, seed, ceilings } = train;
  const hyperparameters = { ...train.hyperparameters, rolloutBudget };
  return evaluateConfigSchema.parse({
    kind: 'evaluate',
    benchmark,
    seed,
    hyperparameters,
    ceilings,
    ...evaluation,
    ...digests,
  });
}

import { z } from 'zod';
import { evaluateConfigSchema, trainConfigSchema } from '../activities/run-config.ts';
import type { Run } from '../bank-store/contract.ts';

const training = trainConfigSchema
  .pick({ kind: true, shards: true, steps: true, trainer: true, hyperparameters: true })
  .strip();
const evaluation = evaluateConfigSchema
  .pick({ kind: true, adapterDigest: true, bankDigest: true, hyperparameters: true })
  .strip();
const either = z.discriminatedUnion('kind', [training, evaluation]);

export type StoredConfig = z.infer<typeof either>;

/** What reports read of a run's configuration: runs outlive the code that made them, whose other fields may differ. */
export const storedConfig = ({ config }: Pick<Run, 'config'>): StoredConfig => either.parse(config);

/** Throws for a run that evaluates. */
export const storedTraining = ({ config }: Pick<Run, 'config'>) => training.parse(config);

/** Throws for a run that trains. */
export const storedEvaluation = ({ config }: Pick<Run, 'config'>) => evaluation.parse(config);

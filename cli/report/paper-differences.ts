import { type Hyperparameters, paperHyperparameters } from '../../workflows/method/hyperparameters.ts';
import type { StoredConfig } from '../stored-config.ts';

/** A hyperparameter that is not the paper's. */
export interface PaperDifference {
  readonly name: string;
  readonly paper: Hyperparameters[keyof Hyperparameters];
  readonly value: Hyperparameters[keyof Hyperparameters];
  /** Kinds of the runs that had it. */
  readonly kinds: readonly StoredConfig['kind'][];
}

/** Runs of one kind share their hyperparameters here; training and evaluation may differ in some. */
export function paperDifferences(configs: readonly StoredConfig[]): readonly PaperDifference[] {
  const found = new Map<string, PaperDifference>();
  for (const { kind, hyperparameters } of configs) {
    for (const name of parameterNames) {
      const [value, paper] = [hyperparameters[name], paperHyperparameters[name]];
      if (JSON.stringify(value) === JSON.stringify(paper)) continue;
      const key = JSON.stringify([name, value]);
      const kinds = [...new Set([...(found.get(key)?.kinds ?? []), kind])];
      found.set(key, { name, paper, value, kinds });
    }
  }
  return [...found.values()];
}

const parameterNames = Object.keys(paperHyperparameters).filter(
  (name): name is keyof Hyperparameters => name in paperHyperparameters,
);

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Hyperparameters, paperHyperparameters } from '../../workflows/method/hyperparameters.ts';
import { vectorFunctions } from './vector-functions.ts';

const constantsSchema = z.object({
  alphaStar: z.number(),
  nMin: z.number(),
  liftMin: z.number(),
  thetaJ: z.number(),
  eta: z.number(),
  alphaMax: z.number(),
  suspend: z.number(),
  decay: z.number(),
  zRecent: z.number(),
  grid: z.array(z.number()),
  bins: z.number(),
  aciWarmup: z.number(),
  bEps: z.number(),
  beta: z.number(),
  gamma: z.number(),
  sdMin: z.number(),
  advEps: z.number(),
  minStratum: z.number(),
});

const caseSchema = z.object({
  id: z.string(),
  fn: z.string(),
  note: z.string().default(''),
  input: z.unknown(),
  output: z.unknown(),
});

const fileSchema = z.object({
  tolerance: z.number().default(1e-9),
  constants: constantsSchema.partial().default({}),
  cases: z.array(caseSchema),
});

export type VectorCase = z.infer<typeof caseSchema>;

export interface VectorFile {
  readonly tolerance: number;
  readonly constants: Hyperparameters;
  readonly cases: readonly VectorCase[];
}

export function readVectorFile(path: string): VectorFile {
  const { tolerance, constants, cases } = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const given = Object.entries(constants).filter(([, value]) => value !== undefined);
  return { tolerance, constants: { ...paperHyperparameters, ...Object.fromEntries(given) }, cases };
}

/** Differences between what the code computes and what the vector says; empty when it passes. */
export function runVector({ fn, input, output }: VectorCase, file: VectorFile): string[] {
  const evaluate = Object.hasOwn(vectorFunctions, fn) ? vectorFunctions[fn] : undefined;
  if (evaluate === undefined) {
    return [`function ${fn} is unknown; known are ${Object.keys(vectorFunctions).join(', ')}`];
  }
  return differences(evaluate(input, file.constants), output, file.tolerance, fn);
}

/** Only the fields that the vector names are compared: it may pin a part of a result. */
function differences(actual: unknown, expected: unknown, tolerance: number, at: string): string[] {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(actual - expected) <= tolerance ? [] : [`${at}: ${actual} instead of ${expected}`];
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (actual.length !== expected.length)
      return [`${at}: ${actual.length} items instead of ${expected.length}`];
    return expected.flatMap((item, i) => differences(actual[i], item, tolerance, `${at}[${i}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(actual[key], value, tolerance, `${at}.${key}`),
    );
  }
  return actual === expected
    ? []
    : [`${at}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

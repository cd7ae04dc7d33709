import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { TrainConfig } from '../../activities/run-config.ts';
import { evaluationOf, readExperiment, settingsFor } from '../../cli/experiment.ts';
import { runIdentity } from '../../cli/identity.ts';
import { refuseUnknownPrices } from '../../cli/known-prices.ts';
import type { ModelEndpoint, ModelIdentity } from '../../models/contract.ts';
import { benchmarkNamed, modelIdentities, type Reach } from '../../workers/parts.ts';
import { settingsForHome } from '../support/settings.ts';

const directory = join(import.meta.dirname, '../../infra/experiments');
const fileNamed = (name: string) => readExperiment(join(directory, name));

/** Models are named, never asked. */
const reachAt =
  (pricePerToken: number | null): Reach =>
  (choice): ModelEndpoint => ({
    ...{ choice, baseUrl: null, apiKey: null },
    gate: { enter: () => Promise.reject(new Error('nobody asks')) },
    priceOf: () => pricePerToken,
  });

function identityOf(config: TrainConfig, models?: Readonly<Record<string, ModelIdentity>>) {
  return runIdentity({
    config,
    benchmark: benchmarkNamed('sandbox'),
    taskIds: ['a'],
    chromium: { executablePath: '/chromium', kind: 'headless-shell', version: '1' },
    models: models ?? modelIdentities(config, reachAt(1)),
  });
}

test('hyperparameters left out altogether have the paper’s values', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'clift-experiment-')), 'bare.yaml');
  const { hyperparameters: _, ...bare } = parse(readFileSync(join(directory, 'demo.yaml'), 'utf8'));
  writeFileSync(file, stringify(bare));
  expect(readExperiment(file).train.hyperparameters).toEqual(fileNamed('paper.yaml').train.hyperparameters);
  rmSync(dirname(file), { recursive: true });
});

test('a file that is missing or no YAML is named, with the place of the fault', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'clift-experiment-')), 'broken.yaml');
  expect(() => readExperiment(file)).toThrow(`${file} cannot be read: ENOENT`);
  writeFileSync(file, 'steps: {a: 1');
  expect(() => readExperiment(file)).toThrow(new RegExp(`${file} is no YAML: .*line 1`, 's'));
  rmSync(dirname(file), { recursive: true });
});

test.each(readdirSync(directory))('%s can be read, and its evaluation is made from it', (name) => {
  const experiment = fileNamed(name);
  const evaluation = evaluationOf(experiment, { adapterDigest: null, bankDigest: null, rolloutBudget: 2 });
  expect(evaluation).toMatchObject({
    ceilings: experiment.train.ceilings,
    models: { policy: experiment.train.models.policy },
    hyperparameters: { rolloutBudget: 2 },
  });
});

test('an experiment may say where a benchmark lies, from its own folder; the environment has the last word', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clift-experiment-'));
  const file = join(folder, 'wai.yaml');
  const text = readFileSync(join(directory, 'wai.yaml'), 'utf8');
  writeFileSync(file, `${text}\nbenchmarks: { wai: { root: checkout } }\n`);
  const experiment = readExperiment(file);
  rmSync(folder, { recursive: true });
  const { waiRoot: _, ...settings } = settingsForHome('/nowhere');
  expect(settingsFor(settings, experiment).waiRoot).toBe(join(folder, 'checkout'));
  expect(settingsFor({ ...settings, waiRoot: '/mine' }, experiment).waiRoot).toBe('/mine');
  expect(experiment.evaluation.suite).toBe('nine');
  expect(JSON.stringify([experiment.train, experiment.evaluation])).not.toContain('checkout');
});

test('rollouts and votes that no selection could record are refused before anything is paid', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clift-experiment-'));
  const withVotes = (hyperparameters: object) => {
    const file = join(folder, 'many.yaml');
    const text = readFileSync(join(directory, 'demo.yaml'), 'utf8');
    const document: object = parse(text);
    writeFileSync(file, stringify({ ...document, hyperparameters }));
    return () => readExperiment(file);
  };
  expect(withVotes({ rolloutBudget: 16, votes: 3 })).not.toThrow();
  expect(withVotes({ rolloutBudget: 4, votes: 31 })).not.toThrow();
  expect(withVotes({ rolloutBudget: 32, votes: 3 })).toThrow(/fewer of either/);
  expect(withVotes({ rolloutBudget: 16, votes: 15 })).toThrow(/fewer of either/);
  rmSync(folder, { recursive: true });
});

describe('the identity of a run', () => {
  const { train } = fileNamed('api-models.yaml');

  test('names every model, with what it is really asked', () => {
    const identity = identityOf(train);
    expect(identity).toMatchObject({
      'models.policy.provider': 'openai',
      'models.policy.model': 'google/gemma-4-31b-it',
      'models.selfVerifier.model': 'google/gemma-4-31b-it',
      'models.judge.model': 'claude-opus-4-6',
      'models.judge.effective.temperature': 0,
      'models.proposer.model': 'claude-opus-4-6',
      'models.trainer.provider': 'none',
    });
  });

  test('leaves out where models are served and what may be spent', () => {
    const moved: TrainConfig = {
      ...train,
      models: {
        ...train.models,
        policy: { provider: 'openai', model: 'google/gemma-4-31b-it', baseUrl: 'http://elsewhere:1/v1' },
      },
      ceilings: { usdPerRun: 1_000, usdPerTask: null },
    };
    expect(identityOf(moved)).toEqual(identityOf(train));
  });

  test('changes with a model, its temperature and its effort', () => {
    const judges = [
      { provider: 'anthropic', model: 'claude-opus-4-6' },
      { provider: 'anthropic', model: 'claude-opus-5' },
      { provider: 'anthropic', model: 'claude-opus-4-6', temperature: 0.5 },
      { provider: 'anthropic', model: 'claude-opus-4-6', reasoningEffort: 'low' },
    ] as const;
    const identities = judges.map((judge) =>
      JSON.stringify(identityOf({ ...train, models: { ...train.models, judge } })),
    );
    expect(new Set(identities).size).toBe(judges.length);
  });

  test('of an embedded run is what it was before models could be chosen', () => {
    const identity = identityOf(fileNamed('demo.yaml').train);
    const fields = Object.keys(identity).filter((name) => name.startsWith('models.'));
    const roles = ['judge', 'policy', 'proposer', 'selfVerifier', 'trainer'];
    expect(fields.sort()).toEqual(
      roles.flatMap((role) => ['model', 'provider', 'revision'].map((field) => `models.${role}.${field}`)),
    );
  });
});

describe('a ceiling over an unknown price', () => {
  const { train } = fileNamed('api-models.yaml');

  test('is refused at the start, with the role and the remedy', () => {
    expect(() => refuseUnknownPrices(train, reachAt(null))).toThrow(
      /google\/gemma-4-31b-it \(policy\): give it a `price`/,
    );
  });

  test.each([
    ['known prices', train, reachAt(0)],
    ['no ceiling', { ...train, ceilings: { usdPerRun: null, usdPerTask: null } }, reachAt(null)],
    ['embedded parts alone', { ...fileNamed('demo.yaml').train, ceilings: train.ceilings }, reachAt(null)],
  ])('is none with %s', (_, config, reach) => {
    expect(() => refuseUnknownPrices(config, reach)).not.toThrow();
  });
});

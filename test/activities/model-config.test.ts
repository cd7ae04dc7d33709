import { describe, expect, test } from 'vitest';
import {
  ceilingsSchema,
  evaluateModelsSchema,
  experimentModelsSchema,
  modelChoiceSchema,
  trainModelsSchema,
} from '../../activities/model-config.ts';

const embedded = { provider: 'embedded' };
const claude = { provider: 'anthropic', model: 'claude-opus-4-6' };
const gemma = { provider: 'openai', model: 'gemma-4-31b-it', baseUrl: 'http://localhost:8000/v1' };

describe('roles', () => {
  test('are played by embedded parts unless a run says otherwise', () => {
    expect(trainModelsSchema.parse(undefined)).toEqual({
      ...{ policy: embedded, selfVerifier: embedded, judge: embedded, proposer: embedded },
      trainer: embedded,
    });
    expect(evaluateModelsSchema.parse(undefined)).toEqual({
      ...{ policy: embedded, selfVerifier: embedded, selector: embedded },
    });
  });

  test('that a file leaves out follow the role that they are nearest to', () => {
    const given = { policy: gemma, judge: claude, trainer: { provider: 'none' } };
    expect(experimentModelsSchema.parse(given)).toEqual({
      train: { ...given, selfVerifier: gemma, proposer: claude },
      evaluate: { policy: gemma, selfVerifier: gemma, selector: gemma },
    });
  });

  test('of an evaluation have no judge', () => {
    expect(evaluateModelsSchema.safeParse({ judge: claude }).success).toBe(false);
  });

  test('cannot have the embedded trainer train a model behind an API', () => {
    const parsed = trainModelsSchema.safeParse({ policy: gemma });
    expect(parsed.error?.issues).toMatchObject([
      { path: ['trainer'], message: expect.stringContaining('trainer: { provider: none }') },
    ]);
  });
});

test.each([
  ['a key in place of its variable', { ...claude, apiKeyVariable: 'sk-ant-123' }],
  ['an unknown provider', { provider: 'mistral', model: 'm' }],
  ['no model', { provider: 'openai' }],
  ['an address that is none', { ...gemma, baseUrl: 'localhost' }],
  ['an address of another protocol', { ...gemma, baseUrl: 'file:///etc/passwd' }],
  ['a password in its address', { ...gemma, baseUrl: 'http://user:secret@localhost:8000/v1' }],
  ['a negative price', { ...gemma, price: { inputUsdPerMillion: -1, outputUsdPerMillion: 1 } }],
  ['no places', { ...gemma, limits: { concurrency: 0 } }],
  ['a field that nobody reads', { ...gemma, temprature: 1 }],
])('a model with %s is refused', (_, choice) => {
  expect(modelChoiceSchema.safeParse(choice).success).toBe(false);
});

test("Anthropic's model, left out, is the paper's judge", () => {
  expect(modelChoiceSchema.parse({ provider: 'anthropic' })).toEqual(claude);
});

test('limits that are left out are none', () => {
  expect(modelChoiceSchema.parse({ ...gemma, limits: { requestsPerMinute: 50 } })).toMatchObject({
    limits: { concurrency: null, requestsPerMinute: 50, tokensPerMinute: null },
  });
});

test('a ceiling of nothing is refused: it would be no ceiling or no run', () => {
  expect(ceilingsSchema.parse(undefined)).toEqual({ usdPerRun: null, usdPerTask: null });
  expect(ceilingsSchema.safeParse({ usdPerRun: 0 }).success).toBe(false);
});

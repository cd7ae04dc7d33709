import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AccountStore } from '../../bank-store/contract.ts';
import type { EndpointChoice } from '../../models/contract.ts';
import { createProviderSelector } from '../../models/providers/index.ts';
import { endpointFor } from '../../workers/endpoints.ts';
import { voteRequest } from '../models/providers/fixtures.ts';
import { startModelServer } from '../support/model-server/server.ts';

afterEach(() => vi.unstubAllEnvs());

const accounts: string[] = [];
const store: AccountStore = {
  providerGate: (account) => {
    accounts.push(account);
    return { enter: () => Promise.reject(new Error('nobody enters')) };
  },
};
const reach = (choice: EndpointChoice, modelBaseUrls = {}) => endpointFor(choice, { modelBaseUrls }, store);

const claude: EndpointChoice = { provider: 'anthropic', model: 'claude-opus-4-6' };
const local: EndpointChoice = { provider: 'openai', model: 'gemma', baseUrl: 'http://localhost:8000/v1' };

describe('the key', () => {
  test('is the one of the provider at its own address', () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'secret');
    expect(reach(claude)).toMatchObject({ apiKey: 'secret', baseUrl: null });
  });

  test('of the provider never goes to an address that the run names', () => {
    vi.stubEnv('OPENAI_API_KEY', 'secret');
    expect(reach(local).apiKey).toBeNull();
  });

  test('is the one that the run names, if it names one', () => {
    vi.stubEnv('LOCAL_KEY', 'other');
    expect(reach({ ...local, apiKeyVariable: 'LOCAL_KEY' }).apiKey).toBe('other');
  });

  test.each([claude, { ...local, apiKeyVariable: 'LOCAL_KEY' }])(
    'that is missing is a fault which names its variable: case %#',
    (choice) => {
      vi.stubEnv('ANTHROPIC_API_KEY', '');
      vi.stubEnv('LOCAL_KEY', '');
      expect(() => reach(choice)).toThrow(/(ANTHROPIC_API_KEY|LOCAL_KEY) is not set.*apiKeyVariable/);
    },
  );

  test('is its text without the line end that a file left behind it', () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'secret\n');
    expect(reach(claude).apiKey).toBe('secret');
    vi.stubEnv('ANTHROPIC_API_KEY', ' \n');
    expect(() => reach(claude)).toThrow('ANTHROPIC_API_KEY is not set');
  });

  test('stands in no name of an account', () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'secret');
    reach(claude);
    expect(accounts.at(-1)).toBe('anthropic at its own address, key ANTHROPIC_API_KEY');
  });
});

test('the workplace may serve a provider elsewhere, with or without a key', () => {
  vi.stubEnv('ANTHROPIC_API_KEY', '');
  const here = reach(claude, { anthropic: 'http://localhost:9' });
  expect(here).toMatchObject({ baseUrl: 'http://localhost:9', apiKey: null });
  expect(here.priceOf({ inputTokens: 1, outputTokens: 1 })).toBeNull();
});

test('a list price holds at the provider alone', () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'secret');
  expect(reach(claude).priceOf({ inputTokens: 1_000_000, outputTokens: 0 })).toBe(5);
  expect(
    reach({ ...claude, baseUrl: 'http://localhost:9' }).priceOf({ inputTokens: 1, outputTokens: 0 }),
  ).toBeNull();
});

test('requests are traced to a file where the settings name one, and nothing of what was said', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'clift-trace-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const modelTraceFile = join(directory, 'models.jsonl');
  const server = await startModelServer((_, index) =>
    index === 0 ? { kind: 'reply', reply: { text: 'whispered' } } : { kind: 'status', status: 529 },
  );
  onTestFinished(() => server.close());
  const open: AccountStore = {
    providerGate: () => ({ enter: async () => ({ leave: async () => {} }) }),
  };
  const choice = { ...local, baseUrl: server.baseUrl };
  const endpoint = endpointFor(choice, { modelBaseUrls: {}, modelTraceFile }, open);
  const selector = createProviderSelector(endpoint);
  const vote = () => selector.vote(voteRequest(0), new AbortController().signal);
  await vote();
  await expect(vote()).rejects.toThrow('529');
  const text = readFileSync(modelTraceFile, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  const span = { name: 'chat gemma', durationMs: expect.any(Number) };
  expect(lines).toMatchObject([
    { ...span, attributes: { 'clift.role': 'selector', 'gen_ai.usage.output_tokens': 7 } },
    { ...span, attributes: { 'error.type': 'unavailable' } },
  ]);
  expect(text).not.toMatch(/whispered|Invoice/);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { checkModels } from '../../../cli/commands/models.ts';
import type { PlayedReply } from '../../../workers/scripted-models/wire.ts';
import {
  type Behaviour,
  type ModelServer,
  type ReceivedCall,
  startModelServer,
} from '../../support/model-server/server.ts';
import { settingsForHome } from '../../support/settings.ts';

const home = mkdtempSync(join(tmpdir(), 'clift-models-'));
const settings = settingsForHome(home);
let server: ModelServer;
let behave: (call: ReceivedCall) => Behaviour;

beforeAll(async () => {
  server = await startModelServer((call) => behave(call));
});
afterEach(() => {
  process.exitCode = 0;
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

const token = { text: 'ready', bytes: null, logProb: -0.1, alternatives: [], id: 5 };

/** A server of open weights that gives whatever is asked for. */
function generous({ body }: ReceivedCall): Behaviour {
  const reply: PlayedReply = {
    text: body['response_format'] === undefined ? 'ready' : '{"word":"ready"}',
    ...(body['tools'] !== undefined && { toolCalls: [{ name: 'say', arguments: { word: 'ready' } }] }),
    ...(body['logprobs'] === true || body['return_token_ids'] === true ? { tokens: [token] } : {}),
    ...(body['return_token_ids'] === true && { promptTokenIds: [1, 2] }),
  };
  return { kind: 'reply', reply };
}

const refuses = (field: string, otherwise: typeof behave) => (call: ReceivedCall) =>
  field in call.body
    ? ({ kind: 'status', status: 400, body: `{"error":{"message":"${field} is not for you"}}` } as const)
    : otherwise(call);

const vllm = () => ({
  ...{ provider: 'openai', model: 'gemma-4-31b-it', baseUrl: server.baseUrl },
  price: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 },
});

/** Writes an experiment with these models and returns what the command prints of them. */
async function check(models: object, json = false): Promise<string> {
  const config = join(home, 'experiment.yaml');
  const common = { benchmark: 'sandbox', seed: 1, shards: 1, steps: 1, hyperparameters: {} };
  const trainer = { learningRate: 0.1, maxGradientNorm: null };
  writeFileSync(
    config,
    stringify({
      ...common,
      trainer,
      models: { trainer: { provider: 'none' }, ...models },
      evaluation: { concurrency: 1 },
    }),
  );
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  try {
    await checkModels(settings, { config, json });
  } finally {
    log.mockRestore();
  }
  return lines.join('\n');
}

const reportSchema = z.array(
  z.object({
    roles: z.array(z.string()),
    problem: z.string().nullable(),
    costUsd: z.number().nullable(),
    probe: z
      .object({
        latencyMs: z.number(),
        features: z.array(z.object({ feature: z.string(), works: z.boolean(), expected: z.boolean() })),
      })
      .nullable(),
  }),
);

async function checkedJson(models: object) {
  return reportSchema.parse(JSON.parse(await check(models, true)));
}

describe('models check', () => {
  test('asks each model once for each thing, whatever roles it plays', async () => {
    behave = generous;
    const before = server.calls.length;
    const [report, ...others] = await checkedJson({ policy: vllm(), judge: vllm() });
    expect(others).toEqual([]);
    expect(report?.roles).toEqual(['policy', 'selfVerifier', 'judge', 'proposer', 'selector']);
    expect(report?.probe?.features.map(({ feature, works }) => [feature, works])).toEqual([
      ['temperature', true],
      ['tools', true],
      ['logProbs', true],
      ['tokenIds', true],
      ['structuredOutput', true],
      ['images', true],
    ]);
    expect(server.calls.length - before).toBe(7);
    // Seven requests of 11 and 7 tokens.
    expect(report?.costUsd).toBeCloseTo((7 * (11 * 1 + 7 * 2)) / 1e6, 12);
    expect(process.exitCode ?? 0).toBe(0);
  });

  test('says what is refused and what is accepted but not given, beside what the table says', async () => {
    behave = refuses('temperature', () => ({ kind: 'reply', reply: { text: 'ready' } }));
    const text = (await check({ policy: vllm() })).replaceAll(/\n {10,}/g, ' ');
    expect(text).toMatch(/temperature +no: .*temperature is not for you.*; the capability table says yes/);
    expect(text).toMatch(/logProbs +no: accepted, but not given; the capability table says yes/);
    expect(text).toMatch(/tools +no: accepted, but not given$/m);
    expect(text).toMatch(/price +\$1 in, \$2 out per million tokens \(experiment file\)/);
  });

  test('speaks the other wire format, and calls a price that nobody knows unknown', async () => {
    behave = generous;
    const text = await check({
      judge: { provider: 'anthropic', model: 'claude-opus-4-6', baseUrl: server.origin },
    });
    expect(text).toMatch(/^claude-opus-4-6 \(anthropic\), judge, proposer$/m);
    expect(text).toMatch(/answers +in \d+ ms, as claude-opus-4-6/);
    expect(text).toMatch(/logProbs +no: accepted, but not given$/m);
    expect(text).toMatch(/price +unknown/);
    expect(text).toMatch(/this check +cost an unknown amount/);
  });

  test('fails with the remedy when a model cannot be used, and asks it no more', async () => {
    behave = () => ({ kind: 'status', status: 401, body: '{"error":{"message":"no such key"}}' });
    const before = server.calls.length;
    const text = await check({ policy: vllm() });
    expect(text).toMatch(/cannot be used: HTTP 401: .*no such key.*Check the API key/);
    expect(server.calls.length - before).toBe(1);
    expect(process.exitCode).toBe(1);
  });

  test('names the variable of a key that is missing', async () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const text = await check({ policy: { provider: 'openai', model: 'gpt-5.5' } });
    expect(text).toMatch(/cannot be used: OPENAI_API_KEY is not set/);
    vi.unstubAllEnvs();
  });

  test('prints nothing that a server wrote as it came', async () => {
    behave = () => ({ kind: 'status', status: 400, body: '\u001b[2Jcleared\r\nnew line' });
    const text = await check({ policy: vllm() });
    expect(text).toContain('cleared');
    expect([...text].filter((character) => character < ' ' && character !== '\n')).toEqual([]);
    expect(text.split('\n')).toHaveLength(2);
  });

  test('has nothing to ask where every role is embedded', async () => {
    expect(await check({ trainer: { provider: 'embedded' } })).toContain('there is no model to ask');
  });
});

import { createServer } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type {
  EffectiveParameters,
  EndpointChoice,
  ModelEndpoint,
  ModelTracer,
} from '../../../models/contract.ts';
import type { ChatRequest, ModelClient } from '../../../models/providers/client.ts';
import { ProviderError } from '../../../models/providers/errors.ts';
import { createModelClient } from '../../../models/providers/factory.ts';
import type { PlayedReply } from '../../../workers/scripted-models/wire.ts';
import {
  type Behaviour,
  type ModelServer,
  replyBytes,
  startModelServer,
} from '../../support/model-server/server.ts';
import { apiKey, endpointTo, never } from './fixtures.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const request: ChatRequest = {
  model: 'test-model',
  system: 'Be brief.',
  user: 'Hello?',
  images: [],
  tools: [],
  schema: null,
  temperature: null,
  reasoningEffort: null,
  seed: null,
  maxOutputTokens: 64,
  topLogProbs: null,
  tokenIds: false,
  streamed: false,
  origin: null,
};

const providers = ['openai', 'anthropic'] as const;
const ways = providers.flatMap((provider) =>
  [false, true].map((streamed) => ({
    provider,
    streamed,
    way: `${provider}${streamed ? ', streamed' : ''}`,
  })),
);

const clientOf = (endpoint: ModelEndpoint, timeoutMs: number): ModelClient =>
  createModelClient(endpoint, 'test', timeoutMs);

async function ask(
  behaviour: Behaviour,
  { provider, streamed }: { readonly provider: EndpointChoice['provider']; readonly streamed: boolean },
  timeoutMs = 10_000,
) {
  server = await startModelServer(() => behaviour);
  const endpoint = endpointTo(server, { provider });
  const outcome = await clientOf(endpoint, timeoutMs)
    .chat({ ...request, streamed }, never)
    .then(
      (reply) => ({ reply, error: null }),
      (error: unknown) => ({ reply: null, error }),
    );
  expect(server.calls).toHaveLength(1);
  expect(endpoint.counts).toMatchObject({ entered: 1, left: 1 });
  return { ...outcome, counts: endpoint.counts };
}

async function failure(...args: Parameters<typeof ask>): Promise<ProviderError> {
  const { error } = await ask(...args);
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}

const reply: PlayedReply = {
  text: 'Grüße, 世界 🙂',
  toolCalls: [{ name: 'click', arguments: { ref: 'e1' } }],
};

describe.each(ways)('$way', (way) => {
  test('a whole reply comes back with text, tool call, usage and the name of the model', async () => {
    const { reply: read } = await ask({ kind: 'reply', reply }, way);
    expect(read).toMatchObject({
      text: reply.text,
      toolCalls: [{ name: 'click', arguments: '{"ref":"e1"}' }],
      ended: 'whole',
      model: 'test-model',
      usage: { inputTokens: 11, outputTokens: 7 },
    });
  });

  test.each([
    [429, 'rate_limited', true],
    [500, 'unavailable', true],
    [502, 'unavailable', true],
    [529, 'unavailable', true],
    [408, 'timeout', true],
    [504, 'timeout', true],
    [524, 'timeout', true],
    [401, 'auth', false],
    [403, 'auth', false],
    [402, 'quota', false],
    [404, 'not_found', false],
    [400, 'bad_request', false],
    [422, 'bad_request', false],
    [413, 'context_length', false],
    [307, 'bad_request', false],
  ])('status %i is %s, and no second request is made', async (status, kind, retryable) => {
    const error = await failure({ kind: 'status', status, headers: { location: '/elsewhere' } }, way);
    expect(error).toMatchObject({ kind, retryable, retryAfterMs: null });
  });

  test.each([
    ['3', 3_000],
    ['0', 0],
    ['99999', 900_000],
    ['soon', null],
    ['-5', null],
  ])('retry-after %s makes %s ms, which the gate is told', async (value, retryAfterMs) => {
    const headers = { 'retry-after': value };
    const { error, counts } = await ask({ kind: 'status', status: 429, headers }, way);
    expect(error).toMatchObject({ kind: 'rate_limited', retryAfterMs });
    expect(counts.lastRetryAfterMs).toBe(retryAfterMs);
  });

  test('retry-after may be a date', async () => {
    const headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() };
    const error = await failure({ kind: 'status', status: 529, headers }, way);
    expect(error.retryAfterMs).toBeGreaterThan(50_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test('a gateway that gave up waiting may have lost a reply, and is asked again when it says', async () => {
    const headers = { 'retry-after': '7' };
    const error = await failure({ kind: 'status', status: 504, headers }, way);
    expect(error).toMatchObject({ lostReply: 'cut', retryAfterMs: 7_000 });
  });

  test('an account without credit is no rate limit', async () => {
    const body = '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}';
    expect(await failure({ kind: 'status', status: 429, body }, way)).toMatchObject({
      kind: 'quota',
      retryable: false,
    });
  });

  test.each([
    "This model's maximum context length is 8192 tokens",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'context_length_exceeded',
  ])('a prompt that is too long is known by the words "%s"', async (message) => {
    const body = JSON.stringify({ error: { message } });
    expect((await failure({ kind: 'status', status: 400, body }, way)).kind).toBe('context_length');
  });

  test('an error that goes on for pages is read from its beginning', async () => {
    const message = `the maximum context length is 8192 tokens. You sent: ${'word '.repeat(10_000)}`;
    const body = JSON.stringify({ error: { message } });
    const error = await failure({ kind: 'status', status: 400, body }, way);
    expect(error.kind).toBe('context_length');
    expect(error.message).toContain('the maximum context length is 8192 tokens');
  });

  test.each([
    ['from the start', undefined],
    ['midway', reply],
  ])('a server that hangs %s is given up at the deadline', async (_, half) => {
    const hang: Behaviour = half === undefined ? { kind: 'hang' } : { kind: 'hang', reply: half };
    expect(await failure(hang, way, 500)).toMatchObject({ kind: 'timeout', retryable: true });
  });

  test('a caller who aborts gets the reason back, not an error of the provider', async () => {
    server = await startModelServer(() => ({ kind: 'hang', reply }));
    const endpoint = endpointTo(server, { provider: way.provider });
    const abort = new AbortController();
    const asked = clientOf(endpoint, 10_000).chat({ ...request, streamed: way.streamed }, abort.signal);
    setTimeout(() => abort.abort(new Error('drained')), 50);
    await expect(asked).rejects.toThrow('drained');
    expect(endpoint.counts.left).toBe(1);
  });

  test('a reply that never ends is cut off at the limit', { timeout: 30_000 }, async () => {
    expect(await failure({ kind: 'flood' }, way, 20_000)).toMatchObject({
      kind: 'too_large',
      retryable: false,
    });
  });

  test.each(['end', 'reset'] as const)(
    'a reply cut at any byte by the %s of the connection is never taken for a whole one',
    async (by) => {
      const sent = {
        path: way.provider === 'openai' ? '/v1/chat/completions' : '/v1/messages',
        model: 'test-model',
      };
      const bytes = replyBytes({ ...sent, streamed: way.streamed }, reply);
      // Behind the last event that carries anything a stream may end early without loss.
      const needed = way.streamed
        ? bytes.lastIndexOf(way.provider === 'openai' ? 'data: {"id"' : 'data: {"type":"message_stop')
        : bytes.length;
      server = await startModelServer((_, index) => ({
        kind: 'cut',
        reply,
        bytes: index * (by === 'end' ? 1 : 11),
        by,
      }));
      const client = clientOf(endpointTo(server, { provider: way.provider }), 10_000);
      for (let length = 0; length < needed; length += by === 'end' ? 1 : 11) {
        const read = client.chat({ ...request, streamed: way.streamed }, never);
        const error = await read.then(
          () => null,
          (thrown: unknown) => thrown,
        );
        const isWhole =
          error === null && finishReasonStands(bytes.subarray(0, length).toString(), way.provider);
        if (!isWhole) expect(error, `after ${length} bytes`).toMatchObject({ kind: 'cut', lostReply: 'cut' });
      }
    },
  );

  test.each(['null', '[]', '{}', '"yes"', '{"choices":[],"content":[]}'])(
    'JSON that is no reply is malformed, and shown: %s',
    async (body) => {
      const wrapped = way.streamed ? `data: ${body}\n\n` : body;
      expect(await failure({ kind: 'body', body: wrapped }, way)).toMatchObject({
        ...{ kind: 'malformed', retryable: true, lostReply: 'malformed' },
        message: expect.stringContaining(`The server sent ${body}`),
      });
    },
  );

  test('nothing in place of a reply is one that was cut off', async () => {
    const error = await failure({ kind: 'body', body: '' }, way);
    expect(error).toMatchObject({ kind: 'cut', retryable: true, lostReply: 'cut' });
  });

  test.each(['<html>\n<h1>busy</h1>\n</html>\n', '\n<!doctype html>\n', 'upstream connect error\n'])(
    'a page that a proxy shows with status 200 is nothing that a model said: %j',
    async (body) => {
      const error = await failure({ kind: 'body', body }, way);
      expect(error).toMatchObject({ kind: 'unavailable', retryable: true, lostReply: null });
      expect(error.message).toContain(body.trim().split('\n')[0]);
    },
  );

  test('the key goes to the server and into no error', async () => {
    const body = JSON.stringify({
      error: { message: `Incorrect API key provided: ${apiKey}, Bearer abcdefghij` },
    });
    const error = await failure({ kind: 'status', status: 401, body }, way);
    const sent = JSON.stringify(server?.calls[0]?.headers);
    expect(sent).toContain(apiKey);
    for (const secret of [apiKey, 'abcdefghij']) {
      expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain(secret);
    }
    expect(error.cause).toBeUndefined();
  });
});

/** OpenAI streams are whole once a finish reason came, whatever follows. */
function finishReasonStands(received: string, provider: string): boolean {
  return provider === 'openai' && /"finish_reason":"\w+"\}\]\}\n\n/.test(received);
}

describe('images', () => {
  const image = { mediaType: 'image/png', base64: 'iVBORw0KGgo=', label: 'The page:' } as const;
  const sentFor = async (provider: EndpointChoice['provider']) => {
    server = await startModelServer(() => ({ kind: 'reply', reply }));
    await clientOf(endpointTo(server, { provider }), 5_000).chat({ ...request, images: [image] }, never);
    return JSON.stringify(server.calls[0]?.body['messages']);
  };

  test('stand behind their label and before the text, as each wire format spells them', async () => {
    expect(await sentFor('openai')).toContain(
      '[{"type":"text","text":"The page:"},' +
        '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},' +
        '{"type":"text","text":"Hello?"}]',
    );
    await server?.close();
    expect(await sentFor('anthropic')).toContain(
      '[{"type":"text","text":"The page:"},' +
        '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},' +
        '{"type":"text","text":"Hello?"}]',
    );
  });
});

describe('the completions endpoint', () => {
  const choice = { capabilities: { api: 'completions' } } as const;
  const tokens = [
    { id: 7, text: ' YES', bytes: null, logProb: -0.1, alternatives: [{ text: ' NO', logProb: -2.5 }] },
    { id: 1, text: '\n', bytes: null, logProb: -0.2, alternatives: [] },
  ];

  test('continues the prompt, with log-probabilities and ids of tokens', async () => {
    server = await startModelServer(() => ({
      kind: 'reply',
      reply: { text: ' YES\n', tokens, promptTokenIds: [1, 2] },
    }));
    const client = clientOf(endpointTo(server, choice), 5_000);
    const read = await client.chat({ ...request, topLogProbs: 20, tokenIds: true }, never);
    expect(read).toEqual({
      ...{ text: ' YES\n', toolCalls: [], ended: 'whole', finishReason: 'stop', model: 'test-model' },
      ...{ tokenIds: [7, 1], promptTokenIds: [1, 2] },
      tokens: tokens.map(({ id: _, ...token }) => token),
      usage: { inputTokens: 11, outputTokens: 7 },
    });
    expect(server.calls[0]).toMatchObject({
      path: '/v1/completions',
      prompt: 'Be brief.\n\nHello?\n',
      body: { max_tokens: 64, logprobs: 20, return_token_ids: true },
    });
  });

  test('reads log-probabilities as llama.cpp spells them', async () => {
    const content = [
      { token: 'No', bytes: [78, 111], logprob: -2.21, top_logprobs: [{ token: 'Yes', logprob: -2.24 }] },
    ];
    const choices = [{ text: 'No', finish_reason: 'length', logprobs: { content } }];
    const body = JSON.stringify({ model: 'm', choices });
    server = await startModelServer(() => ({ kind: 'body', body }));
    const read = await clientOf(endpointTo(server, choice), 5_000).chat(request, never);
    expect(read).toMatchObject({
      ended: 'length',
      tokens: [{ text: 'No', logProb: -2.21, alternatives: [{ text: 'Yes', logProb: -2.24 }] }],
    });
  });

  test.each([
    ['null', '{"choices":null}'],
    ['no choice', '{"model":"m","choices":[]}'],
    [
      'fewer log-probabilities than tokens',
      '{"model":"m","choices":[{"text":"a","finish_reason":"stop","logprobs":{"tokens":["a"],"token_logprobs":[]}}]}',
    ],
  ])('a reply with %s is malformed', async (_, body) => {
    server = await startModelServer(() => ({ kind: 'body', body }));
    const asked = clientOf(endpointTo(server, choice), 5_000).chat(request, never);
    await expect(asked).rejects.toMatchObject({ kind: 'malformed' });
  });

  test('takes no tools, and says so before anything is sent', async () => {
    server = await startModelServer(() => ({ kind: 'reply', reply }));
    const tools = [{ name: 'say', description: '', parameters: {} }];
    const asked = clientOf(endpointTo(server, choice), 5_000).chat({ ...request, tools }, never);
    await expect(asked).rejects.toMatchObject({ kind: 'unsupported' });
    expect(server.calls).toHaveLength(0);
  });
});

describe.each(ways)('seams of the client: $way', (way) => {
  test('a tracer sees each request from start to end, and nothing that was said', async () => {
    server = await startModelServer((_, index) =>
      index === 0 ? { kind: 'reply', reply } : { kind: 'status', status: 429 },
    );
    const spans: { readonly name: string; attributes: EffectiveParameters; failed: boolean }[] = [];
    const tracer: ModelTracer = {
      span: async (name, attributes, work) => {
        const span = { name, attributes, failed: false };
        spans.push(span);
        try {
          return await work((more) => {
            span.attributes = { ...span.attributes, ...more };
          });
        } catch (error) {
          span.failed = true;
          throw error;
        }
      },
    };
    const client = clientOf({ ...endpointTo(server, { provider: way.provider }), tracer }, 5_000);
    await client.chat({ ...request, streamed: way.streamed }, never);
    await expect(client.chat({ ...request, streamed: way.streamed }, never)).rejects.toThrow('429');
    expect(spans).toMatchObject([
      {
        name: 'chat test-model',
        failed: false,
        attributes: {
          'gen_ai.provider.name': way.provider,
          'clift.role': 'test',
          'gen_ai.usage.input_tokens': 11,
          'gen_ai.usage.output_tokens': 7,
        },
      },
      { failed: true, attributes: { 'error.type': 'rate_limited' } },
    ]);
    expect(JSON.stringify(spans)).not.toMatch(/Hello|Grüße|Be brief/);
  });

  test('a payload codec stands between us and the wire in both directions', async () => {
    const secret = 'ada@example.com';
    server = await startModelServer(({ prompt }) => ({
      kind: 'reply',
      reply: { text: /mail of (\S+)/.exec(prompt)?.[1] ?? 'nobody' },
    }));
    const codec = {
      encode: (body: string) => body.replaceAll(secret, 'P1'),
      decode: (text: string) => text.replaceAll('P1', secret),
    };
    const client = clientOf({ ...endpointTo(server, { provider: way.provider }), codec }, 5_000);
    const asked = { ...request, user: `mail of ${secret}`, streamed: way.streamed };
    const { text } = await client.chat(asked, never);
    expect(server.calls[0]?.prompt).toContain('mail of P1');
    // A stream could cut the placeholder in two.
    expect(server.calls[0]?.streamed).toBe(false);
    expect(text).toBe(secret);
  });
});

test('nobody listening is network weather that names the reason', async () => {
  server = await startModelServer(() => ({ kind: 'hang' }));
  const endpoint = endpointTo(server);
  await server.close();
  await expect(clientOf(endpoint, 5_000).chat(request, never)).rejects.toMatchObject({
    kind: 'network',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('the OpenAI format carries sampled tokens with their ids and alternatives', async () => {
  const tokens = [
    { id: 7, text: 'YES', bytes: [89, 69, 83], logProb: -0.1, alternatives: [{ text: 'NO', logProb: -2.4 }] },
  ];
  server = await startModelServer(() => ({
    kind: 'reply',
    reply: { text: 'YES', tokens, promptTokenIds: [1, 2, 3] },
  }));
  const client = clientOf(endpointTo(server), 5_000);
  const read = await client.chat({ ...request, topLogProbs: 20, tokenIds: true }, never);
  expect(read).toMatchObject({
    tokenIds: [7],
    promptTokenIds: [1, 2, 3],
    tokens: [{ text: 'YES', logProb: -0.1 }],
  });
  expect(server.calls[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 20, return_token_ids: true });
});

test.each(ways)('numbers that JSON does not know are malformed: $way', async (way) => {
  const path = way.provider === 'openai' ? '/v1/chat/completions' : '/v1/messages';
  const body = replyBytes({ path, model: 'm', streamed: way.streamed }, { text: 'x' })
    .toString()
    .replace(/"(prompt_tokens|input_tokens)":11/, '"$1":NaN');
  expect(body).toContain('NaN');
  expect(await failure({ kind: 'body', body }, way)).toMatchObject({ kind: 'malformed', retryable: true });
});

test.each(ways.filter(({ streamed }) => streamed))(
  'what a stream carries beside the reply costs no reply that was paid for: $way',
  async (way) => {
    const path = way.provider === 'openai' ? '/v1/chat/completions' : '/v1/messages';
    const [first = '', ...rest] = replyBytes({ path, model: 'm', streamed: true }, { text: 'x' })
      .toString()
      .split(/(?<=\n\n)/);
    const odd =
      way.provider === 'openai'
        ? '{"model":"m","choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{}}]}'
        : '{"type":"vertex_event","data":{}}';
    const body = [first, `data: ${odd}\n\n`, ...rest].join('');
    const { reply: read, error } = await ask({ kind: 'body', body }, way);
    expect(error).toBeNull();
    expect(read).toMatchObject({ text: 'x', ended: 'whole' });
  },
);

test.each(ways.filter(({ provider }) => provider === 'anthropic'))(
  'tokens that a gateway keeps in a cache are counted: $way',
  async (way) => {
    const body = replyBytes({ path: '/v1/messages', model: 'm', streamed: way.streamed }, { text: 'x' })
      .toString()
      .replace(
        '"input_tokens":11',
        '"input_tokens":11,"cache_read_input_tokens":900,"cache_creation_input_tokens":null',
      );
    const { reply: read } = await ask({ kind: 'body', body }, way);
    expect(read?.usage).toEqual({ inputTokens: 911, outputTokens: 7 });
  },
);

test('the other side that ends a TLS handshake was sent nothing', async () => {
  const refusing = createServer((socket) => socket.once('data', () => socket.end()));
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void refusing.close());
  const { port } = z.object({ port: z.number() }).parse(refusing.address());
  const origin = `https://127.0.0.1:${port}`;
  const endpoint = endpointTo({ origin, baseUrl: `${origin}/v1` });
  await expect(clientOf(endpoint, 10_000).chat(request, never)).rejects.toMatchObject({
    ...{ kind: 'network', lostReply: null },
    message: expect.stringContaining('TLS'),
  });
});

describe.each([
  {
    provider: 'openai',
    before: 'data: {"model":"m","choices":[],"prompt_filter_results":[]}\n\n',
    begun: 'data: {"model":"m","choices":[{"delta":{"role":"assistant"}}]}\n\n',
    overloaded: 'data: {"error":{"message":"overloaded"}}\n\n',
    unpaid: 'data: {"error":{"code":"insufficient_quota"}}\n\n',
  },
  {
    provider: 'anthropic',
    before: 'data: {"type":"ping"}\n\n',
    begun:
      'data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
    overloaded: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
    unpaid: 'event: error\ndata: {"type":"error","error":{"type":"billing_error"}}\n\n',
  },
] as const)('an error inside a stream of $provider', ({ provider, before, begun, overloaded, unpaid }) => {
  const streaming = (...events: readonly string[]) =>
    failure({ kind: 'body', body: events.join('') }, { provider, streamed: true });

  test('before anything of the reply lost none', async () => {
    expect(await streaming(before, overloaded)).toMatchObject({ kind: 'unavailable', lostReply: null });
  });

  test('after the reply began has cut it off', async () => {
    const error = await streaming(before, begun, overloaded);
    expect(error).toMatchObject({ kind: 'cut', lostReply: 'cut' });
    expect(error.message).toContain('overloaded');
  });

  test('that needs a person needs one midway, too', async () => {
    expect(await streaming(begun, unpaid)).toMatchObject({ kind: 'quota', retryable: false });
  });
});

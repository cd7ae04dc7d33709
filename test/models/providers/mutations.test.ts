import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { actionSchema } from '../../../benchmarks/schemas.ts';
import { UnansweredCall } from '../../../models/contract.ts';
import { readMessage } from '../../../models/providers/anthropic.ts';
import { AnthropicStream } from '../../../models/providers/anthropic-stream.ts';
import type { ChatReply } from '../../../models/providers/client.ts';
import { ProviderError } from '../../../models/providers/errors.ts';
import { readBody } from '../../../models/providers/http.ts';
import {
  createProviderJudge,
  createProviderPolicies,
  createProviderProposer,
  createProviderSelector,
  createProviderSelfVerifier,
} from '../../../models/providers/index.ts';
import { readCompletion } from '../../../models/providers/openai.ts';
import { OpenAiStream } from '../../../models/providers/openai-stream.ts';
import { readJudgement } from '../../../models/providers/roles/judge.ts';
import { readDrafts } from '../../../models/providers/roles/proposer.ts';
import { readVote } from '../../../models/providers/roles/selector.ts';
import { findToolCall, tokensOf } from '../../../models/providers/tool-call.ts';
import { readYesNo } from '../../../models/providers/yes-no.ts';
import type { PlayedReply } from '../../../workers/scripted-models/wire.ts';
import { parseAssertion } from '../../../workflows/method/parse-assertion.ts';
import { type ModelServer, replyBytes, startModelServer } from '../../support/model-server/server.ts';
import * as given from './fixtures.ts';

const DIRECT_RUNS = 10_000;
const HTTP_RUNS = 100;

// ---- mutations ---------------------------------------------------------------------------------------------

type Mutation = (text: string) => string;

const at = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const intruders = fc.constantFrom(
  ...[
    'NaN',
    'Infinity',
    '-1',
    '1.5',
    '1e999',
    '0.30000000000000004',
    '"0.5"',
    'null',
    'true',
    '[]',
    '{}',
    '{',
  ],
  ...[
    '}',
    ',',
    '"',
    '\\',
    '\u0000',
    '🙂',
    '\ud800',
    '"A"',
    '"B"',
    'length',
    'content_filter',
    '</tool_call>',
  ],
);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  at.map(
    (share): Mutation =>
      (text) =>
        text.slice(0, share * text.length),
  ),
  fc.tuple(at, at).map(([from, share]): Mutation => {
    return (text) => text.slice(0, from * text.length) + text.slice((from + share * 0.1) * text.length);
  }),
  fc.tuple(at, intruders).map(([share, piece]): Mutation => {
    return (text) => text.slice(0, share * text.length) + piece + text.slice(share * text.length);
  }),
  // A number, a word or a text gives way to something else: the shape stays, what it says does not.
  fc.tuple(at, intruders).map(([share, piece]): Mutation => {
    return (text) => {
      const values = [...text.matchAll(/-?\d+(\.\d+)?|"[^"\\]*"|null|true|false/g)];
      const value = values[Math.floor(share * values.length)];
      if (value === undefined) return text;
      return text.slice(0, value.index) + piece + text.slice(value.index + value[0].length);
    };
  }),
  fc.tuple(at, at).map(([from, share]): Mutation => {
    return (text) => {
      const piece = text.slice(from * text.length, (from + share * 0.2) * text.length);
      return text.replace(piece, piece + piece);
    };
  }),
);

interface Changes {
  readonly inner: readonly Mutation[];
  readonly outer: readonly Mutation[];
}

/** The model's words are mutated, or the wire around them, or both. */
const mutations: fc.Arbitrary<Changes> = fc.record({
  inner: fc.array(mutation, { maxLength: 2 }),
  outer: fc.oneof(
    { weight: 3, arbitrary: fc.array(mutation, { maxLength: 0 }) },
    { weight: 1, arbitrary: fc.array(mutation, { maxLength: 2 }) },
  ),
});

const apply = (text: string, changes: readonly Mutation[]): string =>
  changes.reduce((changed, change) => change(changed), text);

/** A wire format, as a whole reply or as a stream. */
interface Way {
  readonly provider: 'openai' | 'anthropic';
  readonly streamed: boolean;
}

const ways = (['openai', 'anthropic'] as const).flatMap((provider) =>
  [false, true].map((streamed): Way => ({ provider, streamed })),
);

const paths = { openai: '/v1/chat/completions', anthropic: '/v1/messages' } as const;

function mutated(reply: PlayedReply, { inner, outer }: Changes, { provider, streamed }: Way): string {
  const text = apply(reply.text, inner);
  const whole = replyBytes(
    { path: paths[provider], model: 'test-model', streamed },
    {
      ...reply,
      text,
      ...(reply.tokens && { tokens: tokensFor(text) }),
      ...(reply.toolCalls && { toolCalls: reply.toolCalls.map((each) => mutatedCall(each, inner)) }),
    },
  );
  return apply(whole.toString(), outer);
}

type NativeCall = NonNullable<PlayedReply['toolCalls']>[number];

function mutatedCall({ name, arguments: args }: NativeCall, changes: readonly Mutation[]): NativeCall {
  const text = apply(JSON.stringify({ name, arguments: args }), changes);
  try {
    const call = z.object({ name: z.string(), arguments: z.unknown() }).parse(JSON.parse(text));
    return { name: call.name, arguments: call.arguments ?? null };
  } catch {
    return { name, arguments: text };
  }
}

const keyless = { secrets: [] };

/** As the client reads them when they have arrived. */
function readBytes(bytes: string, { provider, streamed }: Way): ChatReply {
  if (!streamed) {
    const json = readBody(bytes, keyless);
    return provider === 'openai' ? readCompletion(json, keyless) : readMessage(json, keyless);
  }
  const stream = provider === 'openai' ? new OpenAiStream(keyless) : new AnthropicStream(keyless);
  for (const event of bytes.split('\n\n')) if (event.startsWith('data: ')) stream.read(event.slice(6));
  return stream.reply();
}

const tokensFor = (text: string) =>
  [...text].map((character, index) => ({
    id: index,
    text: character,
    bytes: [...Buffer.from(character)],
    logProb: -(index + 1) / 64,
    alternatives: [],
  }));

/** Every number that a JSON reader could find in the bytes, also where JSON stands inside a text. */
function numbersIn(...texts: readonly string[]): ReadonlySet<number> {
  return new Set(texts.flatMap((text) => text.match(/-?\d+(\.\d+)?([eE][+-]?\d+)?/g) ?? []).map(Number));
}

// ---- roles -------------------------------------------------------------------------------------------------

interface Role {
  readonly valid: PlayedReply;
  /** Reads the reply, throws when a promise about what is accepted is broken, and tells whether anything was. */
  readonly read: (reply: ChatReply, bytes: string) => boolean;
  readonly ask: (endpoint: ReturnType<typeof given.endpointTo>) => Promise<unknown>;
}

const traces = [given.trace(2), given.trace(3)];
const judged = [
  { attempt: 1, score: 0.25, stepScores: [0.125, 0.5], rationale: 'First.' },
  { attempt: 2, score: 0.75, stepScores: [0, 1, 0.375], rationale: 'Second.' },
];
const assertion = JSON.stringify({ version: 1, root: { op: 'stepsAtLeast', n: 3 } });
const drafts = [
  { pair: 1, text: 'Was it saved?', scope: '*', polarity: 1, assertion: null },
  { pair: 2, text: 'Did it fail?', scope: 'mail.sandbox/*', polarity: -1, assertion },
];
const call = '<tool_call>{"name":"scroll","arguments":{"direction":"down","ref":"e12"}}</tool_call>';
const yes = {
  text: 'Yes',
  tokens: [
    {
      ...tokensFor('Y')[0]!,
      text: 'Yes',
      bytes: [...Buffer.from('Yes')],
      alternatives: [{ text: 'No', logProb: -1.25 }],
    },
  ],
};

const roles: Readonly<Record<string, Role>> = {
  policy: {
    valid: { text: `I scroll.\n${call}`, tokens: tokensFor(''), promptTokenIds: [1, 2] },
    read: (reply, bytes) => {
      const found = findToolCall(reply);
      if (found === null) return false;
      expect(actionSchema.safeParse(found.action).success).toBe(true);
      // A stream may cut a number in two; its pieces put together are the text.
      const numbers = numbersIn(bytes, reply.text);
      expect(reply.tokens?.filter(({ logProb }) => !numbers.has(logProb)) ?? []).toEqual([]);
      if (found.characters === null || reply.tokens === null) return true;
      const [start, end] = found.characters;
      expect(reply.text.slice(start, end)).toMatch(/^<tool_call>.*<\/tool_call>$/s);
      const span = tokensOf(reply.text, reply.tokens, found.characters);
      if (span !== null) {
        expect(span[0]).toBeGreaterThanOrEqual(0);
        expect(span[1]).toBeGreaterThan(span[0]);
        expect(span[1]).toBeLessThanOrEqual(reply.tokens.length);
      }
      return true;
    },
    ask: async (endpoint) => {
      const policy = await createProviderPolicies(endpoint).open(null);
      return policy.decide(given.policyRequest(), given.never);
    },
  },
  'policy with native calls': {
    valid: {
      text: 'I scroll.',
      toolCalls: [{ name: 'scroll', arguments: { direction: 'down', ref: 'e12' } }],
    },
    read: (reply) => {
      const found = findToolCall(reply);
      if (found === null) return false;
      expect(reply.ended).toBe('whole');
      expect(actionSchema.safeParse(found.action).success).toBe(true);
      return true;
    },
    ask: async (endpoint) => {
      const choice = { ...endpoint.choice, capabilities: { toolCalls: 'native', tokenIds: false } } as const;
      const policy = await createProviderPolicies({ ...endpoint, choice }).open(null);
      return policy.decide(given.policyRequest(), given.never);
    },
  },
  judge: {
    valid: { text: JSON.stringify({ attempts: judged }) },
    read: (reply, bytes) => {
      const judgement = readJudgement(reply, traces);
      if (!judgement.ok) {
        expect(judgement.problem).not.toBe('');
        return false;
      }
      expect(reply.ended).toBe('whole');
      expect(judgement.judged.map(({ stepScores }) => stepScores.length)).toEqual([2, 3]);
      // A stream may cut a number in two; its pieces put together are the text.
      const numbers = numbersIn(bytes, reply.text);
      const scores = judgement.judged.flatMap(({ score, stepScores }) => [score, ...stepScores]);
      expect(scores.filter((score) => !(score >= 0 && score <= 1 && numbers.has(score)))).toEqual([]);
      return true;
    },
    ask: (endpoint) =>
      createProviderJudge(endpoint).judge(given.judgeRequest(traces), given.readPage, given.never),
  },
  'self-verifier': {
    valid: yes,
    read: (reply) => {
      const pYes = readYesNo(reply);
      if (pYes === null) return false;
      expect(reply.ended).not.toBe('refusal');
      expect(pYes >= 0 && pYes <= 1).toBe(true);
      return true;
    },
    ask: (endpoint) =>
      createProviderSelfVerifier(endpoint).answer(
        { seen: given.seen(), questions: [given.question('?')] },
        given.never,
      ),
  },
  selector: {
    valid: { text: JSON.stringify({ reason: 'It was saved.', vote: 'B' }) },
    read: (reply) => {
      const labels = [0, 1].map((vote) => readVote(reply, { vote }).label);
      if (labels.includes('INVALID')) {
        expect(labels).toEqual(['INVALID', 'INVALID']);
        return false;
      }
      expect(reply.ended).toBe('whole');
      expect([
        ['A', 'B'],
        ['B', 'A'],
        ['TIE', 'TIE'],
      ]).toContainEqual(labels);
      return true;
    },
    ask: (endpoint) => createProviderSelector(endpoint).vote(given.voteRequest(0), given.never),
  },
  proposer: {
    valid: { text: JSON.stringify({ questions: drafts }) },
    read: (reply) => {
      const read = readDrafts(reply, given.proposeRequest({ count: { min: 1, max: 2 } }));
      expect(read.length).toBeLessThanOrEqual(2);
      for (const draft of read) {
        expect(['g1', 'g2']).toContain(draft.groupId);
        expect([1, -1, 0]).toContain(draft.polarity);
        expect(draft.text.trim()).not.toBe('');
        if (draft.assertion !== null) expect(parseAssertion(draft.assertion)).toEqual(draft.assertion);
      }
      return read.length > 0;
    },
    ask: (endpoint) => createProviderProposer(endpoint).propose(given.proposeRequest(), given.never),
  },
};

let server: ModelServer;
let bodyFor: (way: Way) => string = () => '';
beforeAll(async () => {
  server = await startModelServer(({ path, streamed }) => {
    const provider = path === paths.openai ? 'openai' : 'anthropic';
    return { kind: 'body', body: bodyFor({ provider, streamed }) };
  });
});
afterAll(() => server.close());

describe.each(Object.entries(roles))('%s', (_, { valid, read, ask }) => {
  test.each(ways)('reads what is whole: $provider, streamed $streamed', (way) => {
    const bytes = mutated(valid, { inner: [], outer: [] }, way);
    expect(read(readBytes(bytes, way), bytes)).toBe(true);
  });

  test(`${DIRECT_RUNS} mutated replies: no crash, and nothing is accepted that does not stand there`, () => {
    const counts = { accepted: 0, refused: 0, malformed: 0, cut: 0 };
    fc.assert(
      fc.property(mutations, fc.constantFrom(...ways), (changes, way) => {
        const bytes = mutated(valid, changes, way);
        try {
          const isAccepted = read(readBytes(bytes, way), bytes);
          counts[isAccepted ? 'accepted' : 'refused'] += 1;
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          // What does not begin like JSON could be anybody's words.
          if (error.kind === 'unavailable' && !/^\s*[{[]/.test(bytes)) return;
          if (error.kind !== 'malformed' && error.kind !== 'cut') throw error;
          counts[error.kind] += 1;
        }
      }),
      { numRuns: DIRECT_RUNS },
    );
    // Mutations that all end alike would test little.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(DIRECT_RUNS / 200);
  });

  test.each(['openai', 'anthropic'] as const)(
    `${HTTP_RUNS} of them over HTTP (%s): a result or an error that says whether to try again, from one request`,
    async (provider) => {
      const endpoint = given.endpointTo(server, { provider });
      await fc.assert(
        fc.asyncProperty(mutations, async (changes) => {
          bodyFor = (way) => mutated(valid, changes, way);
          const before = server.calls.length;
          await ask(endpoint).catch((thrown: unknown) => {
            const error = thrown instanceof UnansweredCall ? (thrown.cause ?? thrown) : thrown;
            if (!(error instanceof ProviderError)) throw error;
            expect(['malformed', 'cut', 'unavailable', 'unsupported']).toContain(error.kind);
          });
          expect(server.calls.length - before).toBe(1);
        }),
        { numRuns: HTTP_RUNS },
      );
    },
  );
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { EndpointChoice, ModelEndpoint } from '../../../models/contract.ts';
import {
  createProviderJudge,
  createProviderPolicies,
  createProviderProposer,
  createProviderSelector,
  createProviderSelfVerifier,
  createProviderTranslator,
} from '../../../models/providers/index.ts';
import type { PlayedReply } from '../../../workers/scripted-models/wire.ts';
import {
  type Behaviour,
  type ModelServer,
  type ReceivedCall,
  startModelServer,
} from '../../support/model-server/server.ts';
import * as given from './fixtures.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

type Endpoint = ReturnType<typeof given.endpointTo>;

type Models = Parameters<typeof startModelServer>[1];

async function serving(
  answer: PlayedReply | ((call: ReceivedCall) => PlayedReply),
  choice: Partial<EndpointChoice> = {},
  models?: Models,
) {
  const reply = typeof answer === 'function' ? answer : () => answer;
  server = await startModelServer((call) => ({ kind: 'reply', reply: reply(call) }), models);
  return given.endpointTo(server, choice);
}

const said = (value: unknown): PlayedReply => ({ text: JSON.stringify(value) });

const tokensFor = (text: string) =>
  [...text].map((character, index) => ({
    id: 1000 + index,
    text: character,
    bytes: [...Buffer.from(character)],
    logProb: -(index + 1) / 1000,
    alternatives: [],
  }));

describe('policy', () => {
  const call = '<tool_call>{"name":"click","arguments":{"ref":"e12"}}</tool_call>';
  const text = `The button is there.\n${call}`;

  test('a call in the text is an action with ids, log-probabilities and the span of its tokens', async () => {
    const tokens = tokensFor(text);
    const endpoint = await serving({ text, tokens, promptTokenIds: [5, 6, 7] });
    const policy = await createProviderPolicies(endpoint).open(null);
    const decision = await policy.decide(given.policyRequest(), given.never);
    expect(decision).toMatchObject({
      action: { tool: 'click', ref: 'e12', kind: 'single' },
      tokenIds: tokens.map(({ id }) => id),
      logProbs: tokens.map(({ logProb }) => logProb),
      toolCallSpan: [text.length - call.length, text.length],
      prompt: { version: 1, tokenIds: [5, 6, 7] },
      cost: {
        usage: { inputTokens: 11, outputTokens: 7 },
        costUsd: 0.018,
        report: { model: 'test-model', flags: [] },
      },
    });
  });

  test('a native call is an action without tokens, and exactly one call is asked for', async () => {
    const endpoint = await serving(
      { text: '', toolCalls: [{ name: 'navigate', arguments: { url: 'http://mail.sandbox/' } }] },
      { provider: 'anthropic', model: 'claude-opus-4-6' },
    );
    const policy = await createProviderPolicies(endpoint).open(null);
    const decision = await policy.decide(given.policyRequest({ temperature: 1 }), given.never);
    expect(decision).toMatchObject({
      action: { tool: 'navigate' },
      tokenIds: [],
      logProbs: [],
      toolCallSpan: null,
    });
    expect(server?.calls[0]?.body).toMatchObject({
      temperature: 1,
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
  });

  const native = { capabilities: { toolCalls: 'native', tokenIds: false } } as const;
  const wires = [
    ['openai, in the text', { capabilities: { tokenIds: false } }],
    ['openai, native', native],
    ['anthropic, native', { ...native, provider: 'anthropic' }],
    ['anthropic, in the text', { provider: 'anthropic', capabilities: { toolCalls: 'text' } }],
  ] satisfies [string, Partial<EndpointChoice>][];

  /** In the text or natively, as the choice has it. */
  const calling = (
    choice: Partial<EndpointChoice>,
    ...calls: readonly (readonly [string, object])[]
  ): PlayedReply =>
    choice.capabilities?.toolCalls === 'native'
      ? { text: 'So.', toolCalls: calls.map(([name, args]) => ({ name, arguments: args })) }
      : {
          text: calls
            .map(([name, args]) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`)
            .join(' '),
        };

  test.each(wires)(
    '%s: prose, unknown tools and unfit arguments are a turn lost; of two calls the first counts',
    async (_, choice: Partial<EndpointChoice>) => {
      const replies: readonly (readonly [PlayedReply, object])[] = [
        [{ text: 'I would click e12 now.' }, { tool: 'wait' }],
        [calling(choice, ['fly', { ref: 'e12' }]), { tool: 'wait' }],
        [calling(choice, ['click', { ref: 12 }]), { tool: 'wait' }],
        [
          { ...calling(choice, ['back', {}]), finish: 'refusal' },
          choice.capabilities?.toolCalls === 'native' ? { tool: 'stop' } : { tool: 'back' },
        ],
        [calling(choice, ['back', {}], ['click', { ref: 'e12' }]), { tool: 'back' }],
        [
          { text: '', finish: 'refusal' },
          { tool: 'stop', answer: null },
        ],
      ];
      const endpoint = await serving(
        () => replies[(server?.calls.length ?? 1) - 1]?.[0] ?? { text: '' },
        choice,
      );
      const policy = await createProviderPolicies(endpoint).open(null);
      for (const [reply, action] of replies) {
        const decision = await policy.decide(given.policyRequest(), given.never);
        expect(decision.action, JSON.stringify(reply)).toMatchObject(action);
      }
      expect(server?.calls).toHaveLength(replies.length);
    },
  );

  test('what it wrote is kept with the characters of its call', async () => {
    const endpoint = await serving({ text, tokens: tokensFor(text) });
    const policy = await createProviderPolicies(endpoint).open(null);
    const { said: kept, cost } = await policy.decide(given.policyRequest(), given.never);
    expect(kept).toEqual({ text, toolCall: [text.length - call.length, text.length] });
    expect(cost.report).toMatchObject({
      provider: 'openai',
      parameters: { model: 'test-model', temperature: 0, tokenIds: true, seed: expect.any(Number) },
      flags: [],
    });
  });

  test('tokens that do not spell the reply cost the step its gradient, and that is flagged', async () => {
    const endpoint = await serving({ text, tokens: tokensFor(text.replace('e12', 'e13')) });
    const policy = await createProviderPolicies(endpoint).open(null);
    const { toolCallSpan, cost } = await policy.decide(given.policyRequest(), given.never);
    expect(toolCallSpan).toBeNull();
    expect(cost.report?.flags).toEqual([expect.stringContaining('do not spell the tool call')]);
  });

  test('images of a visual benchmark go to models that look at them, and to no others', async () => {
    const images = [
      { mediaType: 'image/jpeg', base64: '/9j/4AAQ', label: 'The page, elements marked:' },
    ] as const;
    const shown = async (choice: Partial<EndpointChoice>, benchmark: string) => {
      const policy = await createProviderPolicies(
        await serving({ text, tokens: tokensFor(text) }, choice),
      ).open(null);
      const looks = policy.looksAtImages?.(benchmark);
      const request = given.policyRequest({ task: { ...given.task, benchmark }, images });
      const { prompt } = await policy.decide(request, given.never);
      const sent = JSON.stringify(server?.calls[0]?.body).includes('/9j/4AAQ');
      // Who trains on the decision needs what it was made from.
      expect(JSON.stringify(prompt).includes('/9j/4AAQ')).toBe(sent);
      await server?.close();
      return { looks, sent };
    };
    const eyes = { capabilities: { images: true } };
    expect(await shown(eyes, 'vwa')).toEqual({ looks: true, sent: true });
    expect(await shown(eyes, 'wai')).toMatchObject({ looks: false });
    expect(await shown({}, 'vwa')).toEqual({ looks: false, sent: false });
  });

  test('a reply without a call is a turn lost without gradient; a refusal ends the rollout', async () => {
    const prose = 'I would click e12.';
    const replies: Record<string, PlayedReply> = {
      prose: { text: prose, tokens: tokensFor(prose) },
      refusal: { text: '', tokens: [], finish: 'refusal' },
    };
    const endpoint = await serving(
      () => replies[server?.calls.length === 1 ? 'prose' : 'refusal'] ?? { text: '' },
    );
    const policy = await createProviderPolicies(endpoint).open(null);
    const lost = await policy.decide(given.policyRequest(), given.never);
    expect(lost).toMatchObject({ action: { tool: 'wait' }, toolCallSpan: null });
    expect(lost.tokenIds).toHaveLength(prose.length);
    const refused = await policy.decide(given.policyRequest(), given.never);
    expect(refused).toMatchObject({ action: { tool: 'stop', answer: null }, toolCallSpan: null });
  });

  test('a server without token ids is a fault that names the way out, and the way out works', async () => {
    const endpoint = await serving({ text });
    const decide = async (choice: EndpointChoice) => {
      const policy = await createProviderPolicies({ ...endpoint, choice }).open(null);
      return policy.decide(given.policyRequest(), given.never);
    };
    await expect(decide(endpoint.choice)).rejects.toMatchObject({
      cause: { kind: 'unsupported', message: expect.stringContaining('capabilities.tokenIds') },
      // The reply that cannot be used is paid for.
      ...{ spent: { usage: { inputTokens: 11, outputTokens: 7 }, costUsd: 0.018 }, lostReply: null },
    });
    const actingOnly = { ...endpoint.choice, capabilities: { tokenIds: false } };
    expect(await decide(actingOnly)).toMatchObject({ action: { tool: 'click' }, toolCallSpan: null });
  });

  test('an adapter is published under a name made from its bytes, asked by that name, and refused if not served', async () => {
    const served: { id: string }[] = [{ id: 'test-model' }];
    const endpoint = await serving({ text, tokens: tokensFor(text) }, {}, served);
    const published: string[] = [];
    const publishing = createProviderPolicies(endpoint, async (name) => {
      published.push(name);
      served.push({ id: name });
    });
    const policy = await publishing.open(Uint8Array.of(1, 2, 3));
    await policy.decide(given.policyRequest(), given.never);
    expect(published).toEqual([expect.stringMatching(/^clift-[0-9a-f]{32}$/)]);
    expect(server?.calls[0]?.model).toBe(published[0]);
    await expect(createProviderPolicies(endpoint).open(Uint8Array.of(4))).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  test('the same seed asks with the same number, another one with another', async () => {
    const endpoint = await serving({ text, tokens: tokensFor(text) });
    const policy = await createProviderPolicies(endpoint).open(null);
    for (const seed of [
      [1, 2],
      [1, 2],
      [1, 3],
    ])
      await policy.decide(given.policyRequest({ seed }), given.never);
    const [first, second, third] = server?.calls.map(({ body }) => body['seed']) ?? [];
    expect(first).toBe(second);
    expect(third).not.toBe(first);
  });

  test.each([
    ['wai', 'Current task'],
    ['vwa', 'Objective'],
    ['om2w', 'live web sites'],
  ])('a task of %s is put in the words of its benchmark', async (benchmark, words) => {
    const endpoint = await serving({ text, tokens: tokensFor(text) });
    const policy = await createProviderPolicies(endpoint).open(null);
    await policy.decide(given.policyRequest({ task: { ...given.task, benchmark } }), given.never);
    expect(server?.calls[0]?.prompt).toContain(words);
    expect(server?.calls[0]?.prompt).toContain(given.task.instruction);
  });
});

describe('judge', () => {
  const attempt = (number: number, steps: number, score = 0.5) => ({
    attempt: number,
    score,
    stepScores: Array.from({ length: steps }, (_, index) => index / 10),
    rationale: `Attempt ${number}`,
  });
  const whole = [attempt(1, 2), attempt(2, 0), attempt(3, 3, 1)];
  const ask = async (
    answer: PlayedReply,
    choice: Partial<EndpointChoice> = {},
    request = given.judgeRequest(),
  ) => {
    const judge = createProviderJudge(await serving(answer, choice));
    return judge.judge(request, given.readPage, given.never);
  };

  test.each(['openai', 'anthropic'] as const)(
    '%s: one judgement for every trace, in their order',
    async (provider) => {
      const answer = said({ attempts: whole.toReversed() });
      const { reply } = await ask(answer, { provider });
      expect(reply).toEqual({ ok: true, judged: whole.map(({ attempt: _, ...judged }) => judged) });
      expect(server?.calls).toHaveLength(1);
      expect(server?.calls[0]?.streamed).toBe(true);
    },
  );

  test.each([
    ['an attempt is missing', said({ attempts: whole.slice(1) }), 'Attempt 1 has 0 entries'],
    ['an attempt comes twice', said({ attempts: [...whole, attempt(1, 2)] }), 'Attempt 1 has 2 entries'],
    ['an attempt is made up', said({ attempts: [...whole, attempt(4, 2)] }), '3 attempts, no others'],
    [
      'a step score is missing',
      said({ attempts: [attempt(1, 1), ...whole.slice(1)] }),
      '1 step scores for 2',
    ],
    ['a score is above 1', said({ attempts: [attempt(1, 2, 1.01), ...whole.slice(1)] }), '1.01'],
    ['a score is below 0', said({ attempts: [attempt(1, 2, -0.5), ...whole.slice(1)] }), '-0.5'],
    ['a score is NaN', { text: '{"attempts":[{"attempt":1,"score":NaN}]}' }, 'no JSON'],
    ['a score is a text', said({ attempts: [{ ...attempt(1, 2), score: '0.5' }] }), 'expected number'],
    ['it is no JSON', { text: 'The first is best.' }, 'no JSON'],
    ['it was cut off', { ...said({ attempts: whole }), finish: 'length' }, 'cut off'],
    ['the model refused', { text: '', finish: 'refusal' }, 'refused'],
  ] satisfies [string, PlayedReply, string][])(
    'when %s, the reply is no judgement, in either wire format',
    async (_, answer, problem) => {
      const anthropic = await ask(answer, { provider: 'anthropic' });
      await server?.close();
      const { reply, cost } = await ask(answer);
      expect(anthropic.reply).toEqual(reply.ok ? null : { ...reply, problem: expect.any(String) });
      expect(reply).toMatchObject({
        ok: false,
        problem: expect.stringContaining(problem),
        text: answer.text,
      });
      expect(cost.costUsd).toBe(0.018);
    },
  );

  describe('that is declared to score whole attempts only', () => {
    const choice = { capabilities: { stepScores: false } };
    const brief = whole.map(({ stepScores: _, ...judgement }) => judgement);

    test("is asked for no step scores, and an attempt's score stands for each of its actions", async () => {
      const { reply } = await ask(said({ attempts: brief }), choice);
      expect(reply).toMatchObject({
        ok: true,
        judged: [
          { score: 0.5, stepScores: [0.5, 0.5] },
          { score: 0.5, stepScores: [] },
          { score: 1, stepScores: [1, 1, 1] },
        ],
      });
      expect(JSON.stringify(server?.calls[0]?.body)).not.toMatch(/stepScores|step scores/);
    });

    test('is another judge by its identity, and scores outside [0, 1] are none for it either', async () => {
      const endpoint = await serving(
        said({ attempts: [{ ...brief[0], score: 1.5 }, ...brief.slice(1)] }),
        choice,
      );
      const judge = createProviderJudge(endpoint);
      const stepwise = createProviderJudge({ ...endpoint, choice: { ...endpoint.choice, capabilities: {} } });
      expect(judge.identity.revision).not.toBe(stepwise.identity.revision);
      const { reply } = await judge.judge(given.judgeRequest(), given.readPage, given.never);
      expect(reply).toMatchObject({ ok: false, problem: expect.stringContaining('1.5') });
    });

    test('any other judge that leaves step scores out has given no judgement', async () => {
      expect((await ask(said({ attempts: brief }))).reply).toMatchObject({ ok: false });
    });
  });

  test('a repair shows what was said and what is wrong with it, between fences', async () => {
    const repair = { ok: false, problem: 'Attempt 1 is missing.', text: '{"attempts":[]}' } as const;
    const { reply } = await ask(said({ attempts: whole }), {}, { ...given.judgeRequest(), repair });
    expect(reply.ok).toBe(true);
    expect(server?.calls[0]?.prompt).toMatch(/<<<\w+ earlier reply\n\{"attempts":\[\]\}\n\w+>>>/);
    expect(server?.calls[0]?.prompt).toContain('Attempt 1 is missing.');
  });

  test('every action keeps its numbered line however long the pages and the traces are', async () => {
    const long = given.trace(400, { observationDigests: Array.from({ length: 401 }, () => 'page') });
    const judge = createProviderJudge(await serving({ text: '' }));
    const page = async () => given.observation({ text: 'y'.repeat(50_000) });
    await judge.judge(given.judgeRequest([long, long, long]), page, given.never);
    const { prompt = '' } = server?.calls[0] ?? {};
    for (const number of [1, 200, 400]) {
      expect(prompt.split(`\n${number}. click button "Archive"`)).toHaveLength(4);
    }
    expect(prompt.length).toBeLessThan(700_000);
  });

  test('a group too long for the model is no judgement and costs nothing', async () => {
    const body = '{"error":{"message":"prompt is too long"}}';
    server = await startModelServer(() => ({ kind: 'status', status: 400, body }));
    const judge = createProviderJudge(given.endpointTo(server));
    const { reply, cost } = await judge.judge(given.judgeRequest(), given.readPage, given.never);
    expect(reply).toMatchObject({ ok: false });
    expect(cost.costUsd).toBe(0);
  });
});

describe('self-verifier', () => {
  const questions = ['Was it archived?', 'Is the page the inbox??', 'Did an action fail???'].map(
    given.question,
  );
  const yes = (p: number): PlayedReply => ({
    text: 'Yes',
    tokens: [
      {
        id: 1,
        text: 'Yes',
        bytes: null,
        logProb: Math.log(p),
        alternatives: [{ text: 'No', logProb: Math.log(1 - p) }],
      },
    ],
  });

  test('one request a question with a shared prefix, and P(YES) from the log-probabilities, in order', async () => {
    const endpoint = await serving(({ prompt }) =>
      yes(prompt.includes('archived') ? 0.9 : prompt.includes('fail') ? 0.2 : 0.6),
    );
    const { answers, cost } = await createProviderSelfVerifier(endpoint).answer(
      { seen: given.seen(), questions },
      given.never,
    );
    expect(answers.map(({ pYes }) => Math.round(1000 * (pYes ?? -1)) / 1000)).toEqual([0.9, 0.6, 0.2]);
    expect(answers.map(({ questionId }) => questionId)).toEqual(questions.map(({ id }) => id));
    expect(cost).toMatchObject({ usage: { inputTokens: 33, outputTokens: 21 }, costUsd: 0.054 });
    const prompts = server?.calls.map(({ prompt }) => prompt.slice(0, prompt.lastIndexOf('Question:'))) ?? [];
    expect(new Set(prompts).size).toBe(1);
    expect(prompts).toHaveLength(3);
  });

  test('a model without log-probabilities answers with its word', async () => {
    const choice = { provider: 'anthropic', model: 'claude-opus-4-6' } as const;
    const endpoint = await serving(
      ({ prompt }) => ({ text: prompt.includes('archived') ? 'YES' : 'Perhaps' }),
      choice,
      [{ id: 'claude-opus-4-6' }],
    );
    const { answers } = await createProviderSelfVerifier(endpoint).answer(
      { seen: given.seen(), questions },
      given.never,
    );
    expect(answers.map(({ pYes }) => pYes)).toEqual([1, null, null]);
  });

  test.each([
    ['an adapter', [{ id: 'test-model', parent: 'gemma' }], 'adapter of gemma'],
    ['not served', [{ id: 'gemma' }], 'no model test-model'],
  ] satisfies [string, Models, string][])(
    'a model that is %s answers nothing',
    async (_, models, problem) => {
      const verifier = createProviderSelfVerifier(await serving(yes(0.5), {}, models));
      await expect(verifier.answer({ seen: given.seen(), questions }, given.never)).rejects.toThrow(problem);
      expect(server?.calls).toHaveLength(0);
    },
  );

  test("at its provider's own address may have a name that stands in no list, as that of a latest release", async () => {
    const choice = { provider: 'anthropic', model: 'claude-haiku-4-5' } as const;
    const endpoint = await serving({ text: 'Yes' }, choice, [{ id: 'claude-haiku-4-5-20251001' }]);
    const { fetch } = globalThis;
    const toServer: typeof fetch = (url, ...rest) =>
      fetch(String(url).replace('https://api.anthropic.com', endpoint.baseUrl ?? ''), ...rest);
    vi.stubGlobal('fetch', toServer);
    onTestFinished(() => void vi.unstubAllGlobals());
    const verifier = createProviderSelfVerifier({ ...endpoint, baseUrl: null });
    const { answers } = await verifier.answer({ seen: given.seen(), questions }, given.never);
    expect(answers.map(({ pYes }) => pYes)).toEqual([1, 1, 1]);
  });

  describe('of whose requests one fails', () => {
    const limited = { kind: 'status', status: 429, headers: { 'retry-after': '2' } } as const;
    const answered: Behaviour = { kind: 'reply', reply: yes(0.5) };
    const asking = async (behave: (index: number) => Behaviour) => {
      server = await startModelServer((_, index) => behave(index));
      const verifier = createProviderSelfVerifier(given.endpointTo(server));
      return () => verifier.answer({ seen: given.seen(), questions }, given.never);
    };

    test('says what the others cost that were answered', async () => {
      const answer = await asking((index) => (index === 1 ? limited : answered));
      await expect(answer()).rejects.toMatchObject({
        cause: { kind: 'rate_limited', retryAfterMs: 2000 },
        ...{ spent: { usage: { inputTokens: 22, outputTokens: 14 }, costUsd: 0.036 }, lostReply: null },
      });
    });

    test('leaves the cost unknown where the price is, never 0', async () => {
      server = await startModelServer((_, index) => (index === 1 ? limited : answered));
      const unpriced = { ...given.endpointTo(server), priceOf: () => null };
      const asked = createProviderSelfVerifier(unpriced).answer(
        { seen: given.seen(), questions },
        given.never,
      );
      await expect(asked).rejects.toMatchObject({ spent: { usage: { inputTokens: 22 }, costUsd: null } });
    });

    test('throws its error as it is where no other was answered', async () => {
      const answer = await asking(() => limited);
      await expect(answer()).rejects.toMatchObject({ kind: 'rate_limited', spent: null, lostReply: null });
    });

    test.each([
      ['a lost reply, before what has cost nothing', 'cut', { lostReply: 'cut' }],
      ['what no retry mends, before all', 'auth', { lostReply: null }],
    ] as const)('names %s', async (_, kind, money) => {
      const cut: Behaviour = { kind: 'cut', reply: yes(0.5), bytes: 20, by: 'end' };
      const refused: Behaviour = kind === 'auth' ? { kind: 'status', status: 401 } : answered;
      const answer = await asking((index) => [limited, cut, refused][index] ?? answered);
      const error = await answer().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject(kind === 'auth' ? { kind, ...money } : { cause: { kind }, ...money });
    });

    test('calls those off that wait for their turn, and no others', async () => {
      server = await startModelServer((_, index) => (index === 0 ? limited : answered));
      const endpoint = given.endpointTo(server);
      const places = [given.never, given.never];
      const gate: ModelEndpoint['gate'] = {
        enter: async (tokens, signal) => {
          if (places.pop() === undefined) {
            await once(signal, 'abort');
            throw signal.reason;
          }
          return endpoint.gate.enter(tokens, signal);
        },
      };
      const verifier = createProviderSelfVerifier({ ...endpoint, gate });
      const asked = verifier.answer({ seen: given.seen(), questions }, given.never);
      await expect(asked).rejects.toMatchObject({
        cause: { kind: 'rate_limited' },
        spent: { usage: { inputTokens: 11, outputTokens: 7 } },
      });
      expect(server.calls).toHaveLength(2);
    });

    test('since the caller called all off says what was paid until then', async () => {
      const abort = new AbortController();
      server = await startModelServer((_, index) => (index === 2 ? { kind: 'hang' } : answered));
      const endpoint = given.endpointTo(server);
      const verifier = createProviderSelfVerifier(endpoint);
      const asked = verifier.answer({ seen: given.seen(), questions }, abort.signal);
      await expect.poll(() => [server?.calls.length, endpoint.counts.left]).toEqual([3, 2]);
      abort.abort(new Error('drained'));
      await expect(asked).rejects.toMatchObject({
        cause: { message: 'drained' },
        ...{ spent: { usage: { inputTokens: 22, outputTokens: 14 } }, lostReply: null },
      });
    });
  });

  test.each([
    ['cut off', '{"data":[{"id":'],
    ['of no known shape', '{"models":[]}'],
  ])('a list of models that is %s loses no reply', async (_, body) => {
    const listing = createServer((_request, response) => response.end(body));
    await new Promise<void>((resolve) => listing.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void listing.close());
    const address = z.object({ port: z.number() }).parse(listing.address());
    const baseUrl = `http://127.0.0.1:${address.port}/v1`;
    const verifier = createProviderSelfVerifier(given.endpointTo({ baseUrl, origin: baseUrl }));
    const asked = verifier.answer({ seen: given.seen(), questions }, given.never);
    await expect(asked).rejects.toMatchObject({ kind: 'unavailable', lostReply: null });
  });
});

describe('selector', () => {
  const ask = async (vote: number, answer: PlayedReply) => {
    const selector = createProviderSelector(await serving(answer));
    const challenger = given.candidate({ answer: 'of the challenger' });
    return selector.vote(given.voteRequest(vote, { challenger }), given.never);
  };

  test.each([
    [0, 'A', 'A'],
    [0, 'B', 'B'],
    [0, 'TIE', 'TIE'],
    [1, 'A', 'B'],
    [1, 'B', 'A'],
    [1, 'TIE', 'TIE'],
    [2, 'B', 'B'],
  ])('vote %i says %s, which means %s', async (vote, shown, label) => {
    expect(await ask(vote, said({ reason: 'r', vote: shown }))).toMatchObject({ label, reason: 'r' });
    const [first = ''] = server?.calls[0]?.prompt.split('Attempt B:') ?? [];
    expect(first.includes('of the challenger')).toBe(vote % 2 === 1);
    expect(server?.calls[0]?.body).toMatchObject({ temperature: 0.7 });
  });

  test.each(['A', '{"vote":"C","reason":""}', '{"vote":"B"}', ''])('"%s" is no vote', async (text) => {
    expect(await ask(0, { text })).toMatchObject({ label: 'INVALID' });
  });

  test('a vote that was cut off is no vote', async () => {
    expect(await ask(0, { ...said({ reason: 'r', vote: 'B' }), finish: 'length' })).toMatchObject({
      label: 'INVALID',
    });
  });
});

describe('proposer', () => {
  const draft = (part: object) => ({
    pair: 1,
    text: 'Was it saved?',
    scope: '*',
    polarity: 1,
    assertion: null,
    ...part,
  });
  const ask = async (answer: PlayedReply) => {
    const proposer = createProviderProposer(await serving(answer));
    return (await proposer.propose(given.proposeRequest(), given.never)).drafts;
  };

  test('drafts carry the group of the pair that they come from, and assertions that can be read', async () => {
    const assertion = { version: 1, root: { op: 'answerGiven' } };
    const drafts = await ask(
      said({
        questions: [
          draft({}),
          draft({ pair: 2, polarity: -1, assertion: JSON.stringify(assertion) }),
          draft({ assertion: '{"version":1,"root":{"op":"unknown"}}' }),
        ],
      }),
    );
    expect(drafts).toEqual([
      { text: 'Was it saved?', scope: '*', polarity: 1, assertion: null, groupId: 'g1' },
      { text: 'Was it saved?', scope: '*', polarity: -1, assertion, groupId: 'g2' },
      { text: 'Was it saved?', scope: '*', polarity: 1, assertion: null, groupId: 'g1' },
    ]);
  });

  test('what cannot be used is left out, and no more is kept than was asked for', async () => {
    const bad = [
      { pair: 3 },
      { pair: 0 },
      { polarity: 0.5 },
      { text: ' ' },
      { scope: '' },
      { text: 'x'.repeat(301) },
    ];
    expect(await ask(said({ questions: bad.map(draft) }))).toEqual([]);
    expect(await ask(said({ questions: Array.from({ length: 9 }, () => draft({})) }))).toHaveLength(5);
  });

  test.each(['no list', '{"questions":{}}', '[]'])('"%s" proposes nothing', async (text) => {
    expect(await ask({ text })).toEqual([]);
  });
});

describe('translator', () => {
  const questions = ['Was it archived?', 'Was a label set?', 'Is the inbox open?'].map(given.question);
  const asked = { questions, target: 'A shop: search, filter, buy.', seed: [1, 'translate'] };
  const decided = (number: number, part: object) => ({
    number,
    ...{ decision: 'keep', text: null, scope: null, reason: 'r' },
    ...part,
  });
  const translate = async (answer: PlayedReply, choice: Partial<EndpointChoice> = {}) => {
    const translator = createProviderTranslator(await serving(answer, choice));
    return (await translator.translate(asked, given.never)).translations;
  };

  test.each(['openai', 'anthropic'] as const)('%s: one decision a question, in order', async (provider) => {
    const rewrite = { decision: 'rewrite', text: ' Was it bought? ', scope: 'shop.example/*' };
    const answer = said({
      questions: [decided(3, { decision: 'drop' }), decided(1, rewrite), decided(2, {})],
    });
    expect(await translate(answer, { provider })).toEqual([
      { decision: 'rewrite', reason: 'r', text: 'Was it bought?', scope: 'shop.example/*' },
      { decision: 'keep', reason: 'r' },
      { decision: 'drop', reason: 'r' },
    ]);
  });

  test('a question without one usable decision has none', async () => {
    const unusable = { decision: 'rewrite', text: ' ', scope: '*' };
    const answer = said({
      questions: [decided(1, {}), decided(1, {}), decided(2, unusable), decided(7, {})],
    });
    expect(await translate(answer)).toEqual([null, null, null]);
    await server?.close();
    expect(await translate({ ...said({ questions: [decided(1, {})] }), finish: 'length' })).toEqual([
      null,
      null,
      null,
    ]);
  });

  test('ways of failing become questions, as many of each as asked for, and no others', async () => {
    const written = (mode: string, part: object = {}) => ({
      mode,
      text: `Is it ${mode}?`,
      scope: '*',
      polarity: -1,
      ...part,
    });
    const answer = said({
      questions: [
        written('wandering'),
        written('bot-block', { polarity: 1 }),
        written('bot-block', { text: 'Is there a captcha?' }),
        written('bot-block', { text: 'One too many?' }),
        written('wandering', { polarity: 0 }),
        written('wrong-answer'),
      ],
    });
    const translator = createProviderTranslator(await serving(answer));
    const request = {
      modes: ['bot-block', 'wandering'],
      perMode: 2,
      target: 'Live sites.',
      existing: questions,
      seed: [1],
    } as const;
    const { questions: drafts } = await translator.expand(request, given.never);
    expect(drafts.map(({ mode, text, polarity }) => [mode, text, polarity])).toEqual([
      ['bot-block', 'Is it bot-block?', 1],
      ['bot-block', 'Is there a captcha?', -1],
      ['wandering', 'Is it wandering?', -1],
    ]);
  });
});

test.each([
  [
    'policy',
    async (endpoint: Endpoint) =>
      (await createProviderPolicies(endpoint).open(null)).mostUsd?.(given.policyRequest()),
  ],
  ['judge', async (endpoint: Endpoint) => createProviderJudge(endpoint).mostUsd?.(given.judgeRequest())],
  [
    'self-verifier',
    async (endpoint: Endpoint) =>
      createProviderSelfVerifier(endpoint).mostUsd?.({
        seen: given.seen(),
        questions: [given.question('?'), given.question('??')],
      }),
  ],
  [
    'selector',
    async (endpoint: Endpoint) => createProviderSelector(endpoint).mostUsd?.(given.voteRequest(0)),
  ],
  [
    'proposer',
    async (endpoint: Endpoint) => createProviderProposer(endpoint).mostUsd?.(given.proposeRequest()),
  ],
] satisfies [string, (endpoint: Endpoint) => Promise<number | null | undefined>][])(
  '%s: the most that a call may cost is no less than it costs, grows with its room, and is unknown without a price',
  async (role, mostUsd) => {
    const priceOf: Endpoint['priceOf'] = ({ inputTokens, outputTokens }) =>
      inputTokens / 1e6 + outputTokens / 1e3;
    const endpoint = { ...(await serving({ text: 'x' })), priceOf };
    const small = await mostUsd(endpoint);
    const roomy = await mostUsd({ ...endpoint, choice: { ...endpoint.choice, maxOutputTokens: 50_000 } });
    expect(small).toBeGreaterThan(0);
    // An answer of the self-verifier is one word, whatever the configuration says.
    if (role === 'self-verifier') expect(roomy).toBe(small);
    else expect(roomy).toBeGreaterThanOrEqual(50);
    expect(await mostUsd({ ...endpoint, priceOf: () => null })).toBeNull();
  },
);

test('every role sends what is its own as the system prompt, and the material as the message', async () => {
  const endpoint = await serving({ text: '{}', tokens: [] });
  const translator = createProviderTranslator(endpoint);
  const target = 'A shop.';
  await (await createProviderPolicies(endpoint).open(null)).decide(given.policyRequest(), given.never);
  await createProviderJudge(endpoint).judge(given.judgeRequest(), given.readPage, given.never);
  await createProviderSelfVerifier(endpoint).answer(
    { seen: given.seen(), questions: [given.question('Was it archived?')] },
    given.never,
  );
  await createProviderSelector(endpoint).vote(given.voteRequest(0), given.never);
  await createProviderProposer(endpoint).propose(given.proposeRequest(), given.never);
  await translator.translate({ questions: [], target, seed: [1] }, given.never);
  await translator.expand({ modes: ['wandering'], perMode: 1, target, existing: [], seed: [1] }, given.never);
  expect(server?.calls).toHaveLength(7);
  for (const { body } of server?.calls ?? []) {
    const [system, message] = messagesSchema.parse(body['messages']);
    expect(system?.content).toContain('Never write a fence');
    expect(message?.content).toMatch(/<<<[0-9a-f]{24} /);
    expect(system?.content).not.toMatch(/<<<[0-9a-f]{24} /);
  }
});

const messagesSchema = z.array(z.object({ role: z.string(), content: z.string() })).length(2);

test('a role is identified by its prompts and by what the model really gets', async () => {
  const endpoint = await serving({ text: '' });
  const { identity } = createProviderJudge(endpoint);
  expect(identity).toEqual({
    provider: 'openai',
    model: 'test-model',
    revision: expect.stringMatching(/^[0-9a-f]{16}$/),
    effective: {
      temperature: 0,
      reasoningEffort: null,
      maxOutputTokens: 16_000,
      logProbs: false,
      tokenIds: false,
      images: false,
      structuredOutput: true,
      toolCalls: 'text',
      api: 'chat',
    },
  });
  expect(createProviderSelector(endpoint).identity.revision).not.toBe(identity.revision);
});

test('the schemas that hold replies are closed, complete and free of what providers refuse', async () => {
  const endpoint = await serving({ text: '{}' });
  await createProviderJudge(endpoint).judge(given.judgeRequest(), given.readPage, given.never);
  await createProviderSelector(endpoint).vote(given.voteRequest(0), given.never);
  await createProviderProposer(endpoint).propose(given.proposeRequest(), given.never);
  const formats = server?.calls.map(({ body }) => JSON.stringify(body['response_format'])) ?? [];
  expect(formats).toHaveLength(3);
  for (const format of formats) {
    expect(format).not.toMatch(
      /minimum|maximum|minLength|maxLength|minItems|maxItems|pattern|default|\$schema|integer/i,
    );
    const objects = format.split('"type":"object"').length - 1;
    expect(format.split('"additionalProperties":false')).toHaveLength(objects + 1);
  }
});

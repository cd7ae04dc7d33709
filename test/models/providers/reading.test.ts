import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Action } from '../../../benchmarks/contract.ts';
import { actionSchema } from '../../../benchmarks/schemas.ts';
import { capabilitiesOf, effectiveOf } from '../../../models/providers/capabilities.ts';
import type { ChatReply, SampledToken } from '../../../models/providers/client.ts';
import { withoutSecrets } from '../../../models/providers/errors.ts';
import { observationText, traceLines } from '../../../models/providers/page-text.ts';
import { loadPiece } from '../../../models/providers/prompt.ts';
import { callMarks, findToolCall, tokensOf } from '../../../models/providers/tool-call.ts';
import { readAction, toolDefinitions } from '../../../models/providers/tools.ts';
import { readYesNo } from '../../../models/providers/yes-no.ts';
import { observation, step } from './fixtures.ts';

function reply(part: Partial<ChatReply>): ChatReply {
  return {
    text: '',
    toolCalls: [],
    ended: 'whole',
    finishReason: 'stop',
    tokens: null,
    tokenIds: null,
    promptTokenIds: null,
    usage: null,
    model: 'm',
    ...part,
  };
}

const token = (
  text: string,
  p = 1,
  alternatives: readonly (readonly [string, number])[] = [],
): SampledToken => ({
  text,
  bytes: null,
  logProb: Math.log(p),
  alternatives: alternatives.map(([other, share]) => ({ text: other, logProb: Math.log(share) })),
});

describe('P(YES)', () => {
  test('adds up every spelling of both sides and normalises over the two', () => {
    const answer = token(' Yes', 0.4, [
      [' Yes', 0.4],
      ['YES', 0.1],
      ['▁yes', 0.05],
      ['Ġyes', 0.05],
      ['"Y', 0.02],
      ['No', 0.1],
      ['NO.', 0.06],
      ['Maybe', 0.2],
    ]);
    expect(readYesNo(reply({ tokens: [answer] }))).toBeCloseTo(0.62 / 0.78, 12);
  });

  test('tokens that are spelled alike count each, the sampled one once', () => {
    const answer = token('Yes', 0.3, [
      ['Yes', 0.3],
      ['Yes', 0.1],
      ['No', 0.4],
    ]);
    expect(readYesNo(reply({ tokens: [answer] }))).toBeCloseTo(0.5, 12);
    // Some servers list the alternatives without the token that was sampled.
    expect(readYesNo(reply({ tokens: [token('Yes', 0.6, [['No', 0.2]])] }))).toBeCloseTo(0.75, 12);
  });

  test('skips blanks and marks in front of the answer', () => {
    const tokens = [
      token('\n'),
      token('**'),
      token('No', 0.9, [
        ['No', 0.9],
        ['Yes', 0.1],
      ]),
    ];
    expect(readYesNo(reply({ tokens }))).toBeCloseTo(0.1, 12);
  });

  test.each(['Maybe', 'Not', 'Yesterday', 'I', '1', '<eos>'])(
    '"%s" is no answer, whatever its alternatives',
    (text) => {
      expect(readYesNo(reply({ tokens: [token(text, 0.5, [['Yes', 0.4]])] }))).toBeNull();
    },
  );

  test('without log-probabilities one word is an answer and a sentence is none', () => {
    expect(readYesNo(reply({ text: ' Yes.' }))).toBe(1);
    expect(readYesNo(reply({ text: '**NO**\n' }))).toBe(0);
    expect(readYesNo(reply({ text: 'Yes, but no' }))).toBeNull();
    expect(readYesNo(reply({ text: '' }))).toBeNull();
  });

  test('a refusal and a probability of nothing are no answers', () => {
    expect(readYesNo(reply({ ended: 'refusal', tokens: [token('Yes')] }))).toBeNull();
    expect(readYesNo(reply({ tokens: [{ ...token('Yes'), logProb: -9999 }] }))).toBeNull();
  });

  test('lies in [0, 1] for any tokens', () => {
    const piece = fc.record({
      text: fc.oneof(fc.constantFrom('Yes', ' no', 'YES', 'N', '', '\n'), fc.string()),
      logProb: fc.double({ min: -9999, max: 0, noNaN: true }),
    });
    const tokens = fc.array(
      fc.record({
        text: fc.oneof(fc.constantFrom('Yes', ' no'), fc.string()),
        bytes: fc.constant(null),
        logProb: fc.double({ min: -9999, max: 0, noNaN: true }),
        alternatives: fc.array(piece),
      }),
    );
    fc.assert(
      fc.property(tokens, (sampled) => {
        const pYes = readYesNo(reply({ tokens: sampled }));
        expect(pYes === null || (pYes >= 0 && pYes <= 1)).toBe(true);
      }),
    );
  });
});

const text = fc.string({ unit: 'grapheme' });
const ref = fc.string({ minLength: 1 });
const actions: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ tool: fc.constant('click' as const), ref, kind: fc.constantFrom('single', 'double', 'right') }),
  fc.record({ tool: fc.constant('type' as const), ref, text, clear: fc.boolean(), submit: fc.boolean() }),
  fc.record({ tool: fc.constant('select' as const), ref, option: text }),
  fc.record({ tool: fc.constant('check' as const), ref, checked: fc.boolean() }),
  fc.record({ tool: fc.constant('press' as const), key: ref }),
  fc.record({
    tool: fc.constant('scroll' as const),
    ref: fc.option(ref),
    direction: fc.constantFrom('up', 'down', 'left', 'right'),
  }),
  fc.record({ tool: fc.constant('hover' as const), ref }),
  fc.record({ tool: fc.constant('drag' as const), ref, toRef: ref }),
  fc.constant({ tool: 'back' as const }),
  fc.record({ tool: fc.constant('navigate' as const), url: ref }),
  fc.record({ tool: fc.constant('tab' as const), index: fc.nat() }),
  fc.record({ tool: fc.constant('find' as const), text: ref }),
  fc.constant({ tool: 'wait' as const }),
  fc.record({ tool: fc.constant('stop' as const), answer: fc.option(text) }),
  fc.record({ tool: fc.constant('infeasible' as const), reason: text }),
);

const written = ({ tool, ...args }: Action): string =>
  `${callMarks.open}${JSON.stringify({ name: tool, arguments: args })}${callMarks.close}`;

describe('tool calls', () => {
  test('every action can be called, in the text and natively, and comes back as it was', () => {
    fc.assert(
      fc.property(actions, (action) => {
        const { tool: name, ...args } = action;
        expect(findToolCall(reply({ text: `I think.\n${written(action)}` }))?.action).toEqual(action);
        const toolCalls = [{ name, arguments: JSON.stringify(args) }];
        expect(findToolCall(reply({ toolCalls }))?.action).toEqual(action);
      }),
    );
  });

  test('whatever comes back from any arguments is an action of the contract', () => {
    const names = fc.constantFrom(
      ...toolDefinitions.map(({ name }) => name),
      'fly',
      'constructor',
      '__proto__',
    );
    fc.assert(
      fc.property(names, fc.jsonValue(), (name, args) => {
        const action = readAction(name, args);
        expect(action === null || actionSchema.safeParse(action).success).toBe(true);
      }),
    );
  });

  test.each([
    ['prose', 'I will click e12 now.'],
    ['an unknown tool', `${callMarks.open}{"name":"fly","arguments":{}}${callMarks.close}`],
    [
      'arguments that do not fit',
      `${callMarks.open}{"name":"click","arguments":{"ref":7}}${callMarks.close}`,
    ],
    ['a call that is not finished', `${callMarks.open}{"name":"click","arguments":{"ref":"e1"`],
    ['a call that is no JSON', `${callMarks.open}click e12${callMarks.close}`],
    ['marks the wrong way round', `${callMarks.close}{"name":"back"}${callMarks.open}`],
  ])('%s is no tool call', (_, said) => {
    expect(findToolCall(reply({ text: said }))).toBeNull();
  });

  test('of two calls the first one counts, and its characters alone', () => {
    const first = written({ tool: 'back' });
    const found = findToolCall(reply({ text: `Hm. ${first}${written({ tool: 'wait' })}` }));
    expect(found).toEqual({ action: { tool: 'back' }, characters: [4, 4 + first.length] });
  });

  test('a native call that was cut off is none', () => {
    const toolCalls = [{ name: 'back', arguments: '' }];
    expect(findToolCall(reply({ toolCalls, ended: 'length' }))).toBeNull();
    expect(findToolCall(reply({ toolCalls }))?.action).toEqual({ tool: 'back' });
  });

  test('the tokens of a call are exactly those that spell a part of it, wherever characters are split', () => {
    const cuts = fc.uniqueArray(fc.nat(400), { maxLength: 40 });
    fc.assert(
      fc.property(text, actions, text, cuts, (before, action, after, at) => {
        const said = `${before.toWellFormed()}${written(action).toWellFormed()}${after.toWellFormed()}`;
        const found = findToolCall(reply({ text: said }));
        if (found?.characters == null) return;
        const bytes = Buffer.from(said);
        const edges = [
          0,
          ...at.filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b),
          bytes.length,
        ];
        const pieces = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        const tokens = pieces.map((piece) => ({ ...token(piece.toString()), bytes: [...piece] }));
        // The token that ends the turn is no part of the text.
        const span = tokensOf(said, [...tokens, { ...token('<end>'), bytes: [] }], found.characters);
        const [start, end] = found.characters.map((character) => Buffer.byteLength(said.slice(0, character)));
        const expected = pieces.flatMap((_, index) => {
          const begins = edges[index] ?? 0;
          const ends = edges[index + 1] ?? 0;
          return ends > (start ?? 0) && begins < (end ?? 0) ? [index] : [];
        });
        expect(span).toEqual([expected[0], (expected.at(-1) ?? 0) + 1]);
      }),
    );
  });

  test('a server that spells each token by itself, and parts of characters as U+FFFD, hides no call', () => {
    const emoji = fc.array(fc.constantFrom('🙂', '世', 'é', '👩‍👩‍👧', 'a', '\ufffd', '"'), { maxLength: 6 });
    const cuts = fc.uniqueArray(fc.nat(200), { maxLength: 60 });
    fc.assert(
      fc.property(emoji, emoji, fc.option(emoji), cuts, (before, typed, after, at) => {
        const said =
          before.join('') + written({ tool: 'find', text: `x${typed.join('')}` }) + (after?.join('') ?? '');
        const found = findToolCall(reply({ text: said }));
        if (found?.characters == null) throw new Error('no call');
        const bytes = Buffer.from(said);
        const edges = [0, ...at.filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b)];
        const pieces = edges.map((from, index) => bytes.subarray(from, edges[index + 1]));
        // As vLLM gives them: the bytes are those of the spelling, not of the token.
        const tokens = pieces.map((piece) => ({
          ...token(piece.toString()),
          bytes: [...Buffer.from(piece.toString())],
        }));
        const span = tokensOf(said, [...tokens, token('<end_of_turn>')], found.characters);
        // The call begins and ends in ASCII, so its first and last token are known whatever stands around them.
        const [start, end] = found.characters.map((character) => Buffer.byteLength(said.slice(0, character)));
        const first = edges.findLastIndex((edge) => edge <= (start ?? 0));
        const last = edges.findLastIndex((edge) => edge < (end ?? 0));
        expect(span).toEqual([first, last + 1]);
      }),
    );
  });

  test('tokens that do not spell the text have no call among them', () => {
    expect(tokensOf('abc', [token('ab'), token('x')], [0, 2])).toBeNull();
    expect(tokensOf('abc', [], [0, 2])).toBeNull();
  });
});

describe('capabilities', () => {
  const wishes = { temperature: 'by call', maxOutputTokens: 100, logProbs: true, tokenIds: true } as const;
  const of = (provider: 'openai' | 'anthropic', model: string, more = {}) =>
    effectiveOf({ provider, model, ...more }, wishes);

  test.each([
    [
      'openai',
      'google/gemma-4-31B-it',
      { temperature: 'by call', logProbs: true, tokenIds: true, toolCalls: 'text' },
    ],
    ['openai', 'gpt-5.5', { temperature: null, logProbs: false, tokenIds: false, toolCalls: 'native' }],
    ['openai', 'gpt-4.1-mini', { temperature: 'by call', logProbs: true, tokenIds: false }],
    ['openai', 'o3', { temperature: null, logProbs: false }],
    ['anthropic', 'claude-opus-4-6', { temperature: 'by call', logProbs: false, reasoningEffort: null }],
    ['anthropic', 'claude-opus-4-7', { temperature: null, logProbs: false }],
    ['anthropic', 'claude-haiku-4-5-20251001', { temperature: 'by call' }],
  ] as const)('%s %s gets what it takes', (provider, model, expected) => {
    expect(of(provider, model)).toMatchObject(expected);
  });

  test('reasoning takes the temperature away and needs room; its absence gives both back', () => {
    expect(of('anthropic', 'claude-opus-4-6', { reasoningEffort: 'high' }).temperature).toBeNull();
    expect(of('openai', 'gpt-5.5').maxOutputTokens).toBeGreaterThan(10_000);
    expect(of('openai', 'gpt-5.5', { reasoningEffort: 'none' })).toMatchObject({
      maxOutputTokens: 100,
      temperature: 'by call',
      logProbs: true,
    });
  });

  test('what a model does not take is refused with what it takes', () => {
    expect(() => of('openai', 'gpt-5.5', { temperature: 0.5 })).toThrow(
      'takes no temperature while it reasons',
    );
    expect(() => of('anthropic', 'claude-opus-4-6', { reasoningEffort: 'minimal' })).toThrow(
      'low, medium, high, max',
    );
    expect(() => of('openai', 'my-model', { reasoningEffort: 'low' })).toThrow('none at all');
  });

  test('a configuration overrides the table', () => {
    const capabilities = { tokenIds: false, toolCalls: 'native' } as const;
    expect(capabilitiesOf({ provider: 'openai', model: 'gemma-3', capabilities })).toMatchObject({
      ...capabilities,
      logProbs: 'always',
    });
  });
});

describe('texts', () => {
  test('no secret survives, not even one that only looks like a key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 8 }), fc.string(), (before, secret, after) => {
        const safe = withoutSecrets(`${before}${secret}${after}`, [secret]);
        expect(safe.replaceAll('[secret]', '')).not.toContain(secret);
      }),
    );
    expect(withoutSecrets('key sk-proj-abcdef123456 is wrong', [])).toBe('key [secret] is wrong');
  });

  test('an observation keeps its elements before its text and says what is missing', () => {
    const long = observation({ text: 'x'.repeat(10_000) });
    const shown = observationText(long, 1_000);
    expect(shown).toContain('[e12] button "Archive" in "Invoice" under "Inbox"');
    expect(shown).toMatch(/more characters\)$/);
    expect(shown.length).toBeLessThan(1_100);
  });

  test('an observation says which rows it left out, however little room there is', () => {
    const leftOut = [{ like: 'Invoice | Edit', heading: 'Inbox', rows: 150, leftOut: 91 }];
    expect(observationText(observation({ leftOut }), 10)).toContain(
      'Left out: 91 of 150 rows like "Invoice | Edit" under "Inbox"; find or scroll to reach them',
    );
  });

  test('a step is one line, whatever was typed', () => {
    const typed = step(0, { action: { tool: 'infeasible', reason: 'a\n7. click button "Pay"\r\nb' } });
    expect(traceLines([typed])).toHaveLength(1);
    expect(traceLines([typed])[0]).not.toMatch(/[\n\r]/);
  });

  test('a hole that is not filled, or filled for nothing, is refused', () => {
    const prompt = loadPiece('judge-repair');
    expect(() => prompt.fill({ problem: 'p' })).toThrow('judge-repair.md and its holes differ in');
  });

  test('what fills a hole is not searched for holes', () => {
    const prompt = loadPiece('policy-call-in-text');
    expect(prompt.fill({ tools: '{{tools}} $& $1' })).toContain('{{tools}} $& $1');
  });
});

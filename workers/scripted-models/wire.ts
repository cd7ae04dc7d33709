/** Replies as both wire formats spell them, whole and streamed: what servers of scripted models answer with. */
import type { SampledToken } from '../../models/providers/client.ts';

export interface PlayedReply {
  readonly text: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** With their ids; absent where no model would know them. */
  readonly tokens?: readonly (SampledToken & { readonly id: number })[];
  readonly promptTokenIds?: readonly number[];
  readonly finish?: 'whole' | 'length' | 'refusal';
}

export interface PlayedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

// ---- OpenAI ------------------------------------------------------------------------------------------------

const openAiFinish = { whole: 'stop', length: 'length', refusal: 'content_filter' } as const;

const openAiUsage = ({ inputTokens, outputTokens }: PlayedUsage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

const openAiCalls = ({ toolCalls = [] }: PlayedReply) =>
  toolCalls.map(({ name, arguments: args }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));

function openAiFinishOf(reply: PlayedReply): string {
  const { finish = 'whole', toolCalls = [] } = reply;
  return finish === 'whole' && toolCalls.length > 0 ? 'tool_calls' : openAiFinish[finish];
}

export function chatCompletion(model: string, reply: PlayedReply, usage: PlayedUsage) {
  const { text, tokens, promptTokenIds, toolCalls = [] } = reply;
  const content = tokens?.map(({ text: token, bytes, logProb, alternatives }) => ({
    token,
    bytes,
    logprob: logProb,
    top_logprobs: alternatives.map((other) => ({ token: other.text, logprob: other.logProb })),
  }));
  const message = {
    role: 'assistant',
    content: text,
    ...(toolCalls.length > 0 && { tool_calls: openAiCalls(reply) }),
  };
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    model,
    choices: [
      {
        index: 0,
        message,
        finish_reason: openAiFinishOf(reply),
        logprobs: content === undefined ? null : { content },
        token_ids: tokens?.map(({ id }) => id) ?? null,
      },
    ],
    prompt_token_ids: promptTokenIds ?? null,
    usage: openAiUsage(usage),
  };
}

/** Of the older endpoint, which knows no tools. */
export function textCompletion(model: string, reply: PlayedReply, usage: PlayedUsage) {
  const { text, tokens, promptTokenIds, finish = 'whole' } = reply;
  const logprobs = tokens && {
    tokens: tokens.map((token) => token.text),
    token_logprobs: tokens.map(({ logProb }) => logProb),
    top_logprobs: tokens.map(({ alternatives }) =>
      Object.fromEntries(alternatives.map((other) => [other.text, other.logProb])),
    ),
  };
  return {
    id: 'cmpl-scripted',
    object: 'text_completion',
    model,
    choices: [
      {
        index: 0,
        text,
        finish_reason: openAiFinish[finish],
        logprobs: logprobs ?? null,
        token_ids: tokens?.map(({ id }) => id) ?? null,
        prompt_token_ids: promptTokenIds ?? null,
      },
    ],
    usage: openAiUsage(usage),
  };
}

/** The data of each event. */
export function chatChunks(model: string, reply: PlayedReply, usage: PlayedUsage): readonly string[] {
  const chunk = (choices: readonly unknown[], more: object = {}) =>
    JSON.stringify({ id: 'chatcmpl-scripted', object: 'chat.completion.chunk', model, choices, ...more });
  const delta = (part: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: part, finish_reason: finish }]);
  return [
    delta({ role: 'assistant', content: '' }),
    ...pieces(reply.text).map((content) => delta({ content })),
    ...openAiCalls(reply).map((call) => delta({ tool_calls: [call] })),
    delta({}, openAiFinishOf(reply)),
    chunk([], { usage: openAiUsage(usage) }),
    '[DONE]',
  ];
}

// ---- Anthropic ---------------------------------------------------------------------------------------------

const anthropicFinish = { whole: 'end_turn', length: 'max_tokens', refusal: 'refusal' } as const;

function anthropicFinishOf({ finish = 'whole', toolCalls = [] }: PlayedReply): string {
  return finish === 'whole' && toolCalls.length > 0 ? 'tool_use' : anthropicFinish[finish];
}

const anthropicUsage = ({ inputTokens, outputTokens }: PlayedUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

export function message(model: string, reply: PlayedReply, usage: PlayedUsage) {
  const { text, toolCalls = [] } = reply;
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...toolCalls.map(({ name, arguments: input }, index) => ({
        type: 'tool_use',
        id: `toolu_${index}`,
        name,
        input,
      })),
    ],
    stop_reason: anthropicFinishOf(reply),
    usage: anthropicUsage(usage),
  };
}

/** The data of each event; its `type` is the event's name. */
export function messageEvents(model: string, reply: PlayedReply, usage: PlayedUsage): readonly string[] {
  const { text, toolCalls = [] } = reply;
  const started = { ...message(model, { text: '' }, usage), stop_reason: null };
  const block = (index: number, content_block: object, deltas: readonly object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const texts = pieces(text).map((piece) => ({ type: 'text_delta', text: piece }));
  const events = [
    { type: 'message_start', message: started },
    ...block(0, { type: 'text', text: '' }, texts),
    { type: 'ping' },
    ...toolCalls.flatMap(({ name, arguments: input }, index) =>
      block(
        index + 1,
        { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
        pieces(JSON.stringify(input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ),
    ),
    {
      type: 'message_delta',
      delta: { stop_reason: anthropicFinishOf(reply), stop_sequence: null },
      usage: anthropicUsage(usage),
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => JSON.stringify(event));
}

/** Cuts anywhere but inside a character. */
function pieces(text: string): readonly string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / 8));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

/** The OpenAI chat completions format, with what vLLM adds to it (`return_token_ids`). */
import { z } from 'zod';
import type { ModelEndpoint, ShownImage } from '../contract.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { ChatReply, ChatRequest, ModelClient } from './client.ts';
import { ProviderError } from './errors.ts';
import { requestEvents, requestJson, type Server, serverOf } from './http.ts';
import { postCompletion } from './openai-completions.ts';
import { OpenAiStream } from './openai-stream.ts';
import { openAiEnding, openAiUsage, parseWire, readToken, tokenIds, tokenSchema } from './wire.ts';

export function createOpenAiClient(endpoint: ModelEndpoint, timeoutMs: number): ModelClient {
  const server = serverOf(endpoint, 'https://api.openai.com/v1', headersFor, timeoutMs);
  const { api } = capabilitiesOf(endpoint.choice);
  return {
    chat: (request, signal) => {
      if (api === 'completions') return postCompletion(server, request, signal);
      return request.streamed ? streamChat(server, request, signal) : postChat(server, request, signal);
    },
    models: async (signal) => {
      const { data } = parseWire(
        modelsSchema,
        await requestJson(server, '/models', undefined, signal),
        server,
      );
      return data.map(({ id, parent }) => ({ id, parent: parent ?? null }));
    },
  };
}

function headersFor(apiKey: string | null): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

function bodyOf(request: ChatRequest): Record<string, unknown> {
  const { schema, tools, topLogProbs } = request;
  return {
    model: request.model,
    messages: [
      { role: 'system', content: request.system },
      { role: 'user', content: contentOf(request) },
    ],
    // Reasoning models refuse the older name, servers of open models know both.
    max_completion_tokens: request.maxOutputTokens,
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(request.reasoningEffort !== null && { reasoning_effort: request.reasoningEffort }),
    ...(request.seed !== null && { seed: request.seed }),
    ...(schema !== null && {
      response_format: { type: 'json_schema', json_schema: { ...schema, strict: true } },
    }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
      tool_choice: 'required',
      parallel_tool_calls: false,
    }),
    ...(topLogProbs !== null && { logprobs: true, top_logprobs: topLogProbs }),
    // With them come the special tokens, so that text and tokens stay aligned.
    ...(request.tokenIds && { return_token_ids: true, skip_special_tokens: false }),
    ...(request.origin !== null && { clift: request.origin }),
  };
}

/** Each image after its label, then the text. */
function contentOf({ user, images }: ChatRequest): unknown {
  if (images.length === 0) return user;
  const parts = images.flatMap(({ label, ...image }) => [
    { type: 'text', text: label },
    { type: 'image_url', image_url: { url: dataUrl(image) } },
  ]);
  return [...parts, { type: 'text', text: user }];
}

const dataUrl = ({ mediaType, base64 }: Omit<ShownImage, 'label'>): string =>
  `data:${mediaType};base64,${base64}`;

// ---- the whole reply at once -------------------------------------------------------------------------------

const toolCallSchema = z.object({ function: z.object({ name: z.string(), arguments: z.string() }) });

const chatSchema = z.object({
  model: z.string(),
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z.array(toolCallSchema).nullish(),
        }),
        finish_reason: z.string(),
        logprobs: z.object({ content: z.array(tokenSchema).nullish() }).nullish(),
        token_ids: tokenIds,
      }),
    )
    .min(1),
  prompt_token_ids: tokenIds,
  usage: openAiUsage.nullish(),
});

/** Log-probabilities and token ids are asked for unstreamed only. */
async function streamChat(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
  const stream = new OpenAiStream(server);
  const body = { ...bodyOf(request), stream: true, stream_options: { include_usage: true } };
  await requestEvents(server, '/chat/completions', body, (data) => stream.read(data), signal);
  return stream.reply();
}

async function postChat(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
  return readCompletion(await requestJson(server, '/chat/completions', bodyOf(request), signal), server);
}

/** Throws `malformed` for JSON that is no chat completion. */
export function readCompletion(json: unknown, server: Pick<Server, 'secrets'>): ChatReply {
  const { model, choices, usage, prompt_token_ids } = parseWire(chatSchema, json, server);
  const [choice] = choices;
  if (choice === undefined) throw new ProviderError('malformed', 'The reply has no choice');
  const { message, finish_reason, logprobs, token_ids } = choice;
  return {
    text: message.content ?? '',
    toolCalls: message.tool_calls?.map((call) => call.function) ?? [],
    ended: openAiEnding(finish_reason, message.refusal),
    finishReason: finish_reason,
    tokens: logprobs?.content?.map(readToken) ?? null,
    tokenIds: token_ids ?? null,
    promptTokenIds: prompt_token_ids ?? null,
    usage: usage ?? null,
    model,
  };
}

const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), parent: z.string().nullish() })),
});

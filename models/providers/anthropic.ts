/** The Anthropic messages format. */
import { z } from 'zod';
import type { ModelEndpoint } from '../contract.ts';
import { AnthropicStream } from './anthropic-stream.ts';
import type { ChatReply, ChatRequest, ModelClient } from './client.ts';
import { requestEvents, requestJson, type Server, serverOf } from './http.ts';
import { anthropicInput, anthropicReply, inputTokensOf, parseWire } from './wire.ts';

const API_VERSION = '2023-06-01';

export function createAnthropicClient(endpoint: ModelEndpoint, timeoutMs: number): ModelClient {
  const server = serverOf(endpoint, 'https://api.anthropic.com', headersFor, timeoutMs);
  return {
    chat: (request, signal) =>
      request.streamed ? streamMessage(server, request, signal) : postMessage(server, request, signal),
    models: async (signal) => {
      const json = await requestJson(server, '/v1/models?limit=1000', undefined, signal);
      return parseWire(modelsSchema, json, server).data.map(({ id }) => ({ id, parent: null }));
    },
  };
}

function headersFor(apiKey: string | null): Readonly<Record<string, string>> {
  return { 'anthropic-version': API_VERSION, ...(apiKey !== null && { 'x-api-key': apiKey }) };
}

function bodyOf(request: ChatRequest): Record<string, unknown> {
  const { schema, tools, reasoningEffort } = request;
  const output = {
    ...(reasoningEffort !== null && { effort: reasoningEffort }),
    ...(schema !== null && { format: { type: 'json_schema', schema: schema.schema } }),
  };
  return {
    model: request.model,
    system: request.system,
    messages: [{ role: 'user', content: contentOf(request) }],
    max_tokens: request.maxOutputTokens,
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(reasoningEffort !== null && { thinking: { type: 'adaptive' } }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
      // A model that thinks may not be forced to call a tool.
      tool_choice: { type: reasoningEffort === null ? 'any' : 'auto', disable_parallel_tool_use: true },
    }),
    ...(request.origin !== null && { clift: request.origin }),
  };
}

/** Each image after its label, then the text. */
function contentOf({ user, images }: ChatRequest): unknown {
  if (images.length === 0) return user;
  const parts = images.flatMap(({ label, mediaType, base64 }) => [
    { type: 'text', text: label },
    { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } },
  ]);
  return [...parts, { type: 'text', text: user }];
}

// ---- the whole reply at once -------------------------------------------------------------------------------

const messageSchema = z.object({
  model: z.string(),
  content: z.array(
    z.union([
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('tool_use'), name: z.string(), input: z.unknown() }),
      z.object({ type: z.string() }),
    ]),
  ),
  stop_reason: z.string(),
  usage: anthropicInput.extend({ output_tokens: z.int().min(0) }),
});

async function streamMessage(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
  const stream = new AnthropicStream(server);
  const body = { ...bodyOf(request), stream: true };
  await requestEvents(server, '/v1/messages', body, (data) => stream.read(data), signal);
  return stream.reply();
}

async function postMessage(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
  const json = await requestJson(server, '/v1/messages', bodyOf(request), signal);
  return readMessage(json, server);
}

/** Throws `malformed` for JSON that is no message. */
export function readMessage(json: unknown, server: Pick<Server, 'secrets'>): ChatReply {
  const { model, content, stop_reason, usage } = parseWire(messageSchema, json, server);
  return anthropicReply({
    text: content.flatMap((block) => ('text' in block ? [block.text] : [])).join(''),
    toolCalls: content.flatMap((block) =>
      'name' in block ? [{ name: block.name, arguments: JSON.stringify(block.input) ?? '' }] : [],
    ),
    finishReason: stop_reason,
    usage: { inputTokens: inputTokensOf(usage), outputTokens: usage.output_tokens },
    model,
  });
}

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

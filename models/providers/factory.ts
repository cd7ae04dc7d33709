/** The one place where clients of model servers are made: gate, tracing and payload codec stand around each of them. */
import type { EffectiveParameters, ModelEndpoint, ModelTracer } from '../contract.ts';
import { createAnthropicClient } from './anthropic.ts';
import { type ChatReply, type ChatRequest, estimateTokens, type ModelClient } from './client.ts';
import { ProviderError } from './errors.ts';
import { createOpenAiClient } from './openai.ts';

/** `purpose`: who asks, for traces. `timeoutMs`: from sending to the last byte of one reply. */
export function createModelClient(endpoint: ModelEndpoint, purpose: string, timeoutMs: number): ModelClient {
  const create = endpoint.choice.provider === 'openai' ? createOpenAiClient : createAnthropicClient;
  const client = create(endpoint, timeoutMs);
  const { tracer = untraced, codec } = endpoint;
  return {
    models: client.models,
    chat: (request, signal) =>
      tracer.span(`chat ${request.model}`, asked(endpoint, purpose, request), async (add) => {
        try {
          const sent = codec === undefined ? request : { ...request, streamed: false };
          const reply = await throughGate(endpoint, client, sent, signal);
          add(answered(reply));
          return reply;
        } catch (error) {
          add({ 'error.type': error instanceof ProviderError ? error.kind : 'aborted' });
          throw error;
        }
      }),
  };
}

const untraced: ModelTracer = { span: (_name, _attributes, work) => work(() => undefined) };

/** Once a request; what the reply says of the account is passed on, however it ended. */
async function throughGate(
  { gate }: ModelEndpoint,
  client: ModelClient,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatReply> {
  const permit = await gate.enter(estimateTokens(request), signal);
  try {
    const reply = await client.chat(request, signal);
    await permit.leave({ usage: reply.usage, retryAfterMs: null });
    return reply;
  } catch (error) {
    const retryAfterMs = error instanceof ProviderError ? error.retryAfterMs : null;
    await permit.leave({ usage: null, retryAfterMs });
    throw error;
  }
}

/** Names of OpenTelemetry's conventions for generative models; nothing of what is asked or answered. */
function asked({ choice }: ModelEndpoint, purpose: string, request: ChatRequest): EffectiveParameters {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': choice.provider,
    'gen_ai.request.model': request.model,
    'gen_ai.request.max_tokens': request.maxOutputTokens,
    'clift.role': purpose,
  };
}

function answered({ model, finishReason, usage }: ChatReply): EffectiveParameters {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reason': finishReason,
    'gen_ai.usage.input_tokens': usage?.inputTokens ?? null,
    'gen_ai.usage.output_tokens': usage?.outputTokens ?? null,
  };
}

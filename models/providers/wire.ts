/** What both wire formats have in common. */
import { z } from 'zod';
import type { Usage } from '../contract.ts';
import type { ChatReply, SampledToken } from './client.ts';
import { classifyFailure, ProviderError, withoutSecrets } from './errors.ts';
import type { Server } from './http.ts';

/** Throws `malformed`, with the words of the server, for anything that is not of the wire format. */
export function parseWire<T>(schema: z.ZodType<T>, json: unknown, { secrets }: Pick<Server, 'secrets'>): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const sent = withoutSecrets(JSON.stringify(json), secrets);
  const problem = `Not the wire format at ${issue?.path.join('.')}: ${issue?.message}`;
  throw new ProviderError('malformed', `${problem}. The server sent ${sent}`);
}

/** A server that fails midway has sent its 200 already, and generated for nothing what `hasBegun` to arrive. */
export function failureInStream(
  data: string,
  { secrets }: Pick<Server, 'secrets'>,
  hasBegun: boolean,
): ProviderError {
  const failure = classifyFailure({ status: 500, headers: new Headers(), body: data }, secrets);
  return hasBegun && failure.retryable ? new ProviderError('cut', failure.message) : failure;
}

export const cutStream = () => new ProviderError('cut', 'The stream ended before the reply did');

// ---- OpenAI ------------------------------------------------------------------------------------------------

export const openAiUsage = z
  .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
  .transform((usage): Usage => ({ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens }));

/** Servers round: a probability may come out a little above 1. */
export const logProb = z.number().max(1e-3);

export const tokenSchema = z.object({
  token: z.string(),
  logprob: logProb,
  bytes: z.array(z.int().min(0).max(255)).nullish(),
  top_logprobs: z.array(z.object({ token: z.string(), logprob: logProb })).default([]),
});

export function readToken({
  token,
  bytes,
  logprob,
  top_logprobs,
}: z.infer<typeof tokenSchema>): SampledToken {
  return {
    text: token,
    bytes: bytes ?? null,
    logProb: logprob,
    alternatives: top_logprobs.map((other) => ({ text: other.token, logProb: other.logprob })),
  };
}

export const tokenIds = z.array(z.int().min(0)).nullish();

export function openAiEnding(finishReason: string, refusal: string | null | undefined): ChatReply['ended'] {
  if (refusal || finishReason === 'content_filter') return 'refusal';
  return ['stop', 'tool_calls', 'function_call'].includes(finishReason) ? 'whole' : 'length';
}

// ---- Anthropic ---------------------------------------------------------------------------------------------

const cachedTokens = z.int().min(0).nullish();

export const anthropicInput = z.object({
  input_tokens: z.int().min(0),
  cache_creation_input_tokens: cachedTokens,
  cache_read_input_tokens: cachedTokens,
});

/** What a gateway writes to or reads from a cache stands beside `input_tokens`; here it counts like the rest. */
export function inputTokensOf(usage: z.infer<typeof anthropicInput>): number {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  return input_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
}

export function anthropicReply(
  parts: Pick<ChatReply, 'text' | 'toolCalls' | 'finishReason' | 'usage' | 'model'>,
): ChatReply {
  const ended = anthropicEnding(parts.finishReason);
  return { ...parts, ended, tokens: null, tokenIds: null, promptTokenIds: null };
}

function anthropicEnding(stopReason: string): ChatReply['ended'] {
  if (stopReason === 'refusal') return 'refusal';
  return ['end_turn', 'stop_sequence', 'tool_use'].includes(stopReason) ? 'whole' : 'length';
}

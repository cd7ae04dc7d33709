/**
 * The OpenAI completions format: one text in, its continuation out. For base models without a chat template, and for
 * servers that give log-probabilities here only. It knows no tools, no schema and no images.
 */
import { z } from 'zod';
import type { ChatReply, ChatRequest, SampledToken } from './client.ts';
import { ProviderError } from './errors.ts';
import { requestJson, type Server } from './http.ts';
import { logProb, openAiEnding, openAiUsage, parseWire, readToken, tokenIds, tokenSchema } from './wire.ts';

/** Unstreamed, whatever was asked: log-probabilities of a stream would have to be put together. */
export async function postCompletion(
  server: Server,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatReply> {
  return readTextCompletion(await requestJson(server, '/completions', bodyOf(request), signal), server);
}

function bodyOf(request: ChatRequest): Record<string, unknown> {
  if (request.tools.length > 0 || request.images.length > 0) {
    throw new ProviderError('unsupported', 'The completions endpoint takes neither tools nor images');
  }
  return {
    model: request.model,
    prompt: `${request.system}\n\n${request.user}\n`,
    max_tokens: request.maxOutputTokens,
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(request.seed !== null && { seed: request.seed }),
    ...(request.topLogProbs !== null && { logprobs: request.topLogProbs }),
    ...(request.tokenIds && { return_token_ids: true, skip_special_tokens: false }),
    ...(request.origin !== null && { clift: request.origin }),
  };
}

/** As OpenAI and vLLM spell them; llama.cpp spells them as in a chat. */
const columnsSchema = z
  .object({
    tokens: z.array(z.string()),
    token_logprobs: z.array(logProb),
    top_logprobs: z.array(z.record(z.string(), logProb).nullable()).nullish(),
  })
  .refine(({ tokens, token_logprobs }) => tokens.length === token_logprobs.length, {
    message: 'as many log-probabilities as tokens',
  });

const logProbsSchema = z.union([columnsSchema, z.object({ content: z.array(tokenSchema) })]);

const completionSchema = z.object({
  model: z.string(),
  choices: z
    .array(
      z.object({
        text: z.string(),
        finish_reason: z.string(),
        logprobs: logProbsSchema.nullish(),
        token_ids: tokenIds,
        prompt_token_ids: tokenIds,
      }),
    )
    .min(1),
  usage: openAiUsage.nullish(),
});

/** Throws `malformed` for JSON that is no completion. */
function readTextCompletion(json: unknown, server: Pick<Server, 'secrets'>): ChatReply {
  const { model, choices, usage } = parseWire(completionSchema, json, server);
  const [choice] = choices;
  if (choice === undefined) throw new ProviderError('malformed', 'The reply has no choice');
  const { text, finish_reason, logprobs, token_ids, prompt_token_ids } = choice;
  return {
    text,
    toolCalls: [],
    ended: openAiEnding(finish_reason, null),
    finishReason: finish_reason,
    tokens: logprobs ? readTokens(logprobs) : null,
    tokenIds: token_ids ?? null,
    promptTokenIds: prompt_token_ids ?? null,
    usage: usage ?? null,
    model,
  };
}

function readTokens(logprobs: z.infer<typeof logProbsSchema>): readonly SampledToken[] {
  if ('content' in logprobs) return logprobs.content.map(readToken);
  const { tokens, token_logprobs, top_logprobs } = logprobs;
  return token_logprobs.map((sampled, index) => ({
    text: tokens[index] ?? '',
    bytes: null,
    logProb: sampled,
    alternatives: Object.entries(top_logprobs?.[index] ?? {}).map(([text, other]) => ({
      text,
      logProb: other,
    })),
  }));
}

/** What the roles ask of a model, whatever wire format it speaks. */
import {
  type CallCost,
  type EffectiveParameters,
  type ModelEndpoint,
  type ShownImage,
  UnansweredCall,
  type Usage,
} from '../contract.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface ChatRequest {
  /** As the server names it: a base model or an adapter. */
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly images: readonly ShownImage[];
  /** The model has to call exactly one of them; empty: it writes. */
  readonly tools: readonly ToolDefinition[];
  /** Null: the reply is held to no schema. */
  readonly schema: { readonly name: string; readonly schema: JsonSchema } | null;
  /** Null: the server's own. */
  readonly temperature: number | null;
  readonly reasoningEffort: string | null;
  /** Whole number from 0; null: none. */
  readonly seed: number | null;
  readonly maxOutputTokens: number;
  /** Alternatives per sampled token; null: no log-probabilities. */
  readonly topLogProbs: number | null;
  readonly tokenIds: boolean;
  /** Long replies are streamed: silent connections are cut by whoever stands between. */
  readonly streamed: boolean;
  /** The role's request, for models that are played by code; null for all others. */
  readonly origin: { readonly role: string; readonly request: unknown } | null;
}

export interface SampledToken {
  readonly text: string;
  /** UTF-8; a token may be a part of a character. Null where the server does not say. */
  readonly bytes: readonly number[] | null;
  /** Natural logarithm, at temperature 1. */
  readonly logProb: number;
  readonly alternatives: readonly { readonly text: string; readonly logProb: number }[];
}

export interface ChatReply {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  /** `length`: anything that ended the reply before the model did. */
  readonly ended: 'whole' | 'length' | 'refusal';
  /** The server's own word for it. */
  readonly finishReason: string;
  readonly tokens: readonly SampledToken[] | null;
  readonly tokenIds: readonly number[] | null;
  readonly promptTokenIds: readonly number[] | null;
  /** Null where the server does not say. */
  readonly usage: Usage | null;
  readonly model: string;
}

export interface ServedModel {
  readonly id: string;
  /** The base model of an adapter; null for a base model. */
  readonly parent: string | null;
}

export interface ModelClient {
  /**
   * One HTTP request. Throws `ProviderError`, or the reason of the aborted signal. `turn` ends the wait for the
   * account's turn alone: what has been sent goes on.
   */
  chat(request: ChatRequest, signal: AbortSignal, turn?: AbortSignal): Promise<ChatReply>;
  models(signal: AbortSignal): Promise<readonly ServedModel[]>;
}

/** A reply with what was asked for, for the record. */
export interface RecordedReply extends ChatReply {
  readonly parameters: EffectiveParameters;
}

const CHARACTERS_PER_TOKEN = 4;
/** Of a screenshot, at every provider's usual resolution. */
export const TOKENS_PER_IMAGE = 1_600;

/** For rate limits: prompt, images, and all that the model may write. */
export function estimateTokens({ system, user, images, maxOutputTokens }: ChatRequest): number {
  const prompt = Math.ceil((system.length + user.length) / CHARACTERS_PER_TOKEN);
  return prompt + images.length * TOKENS_PER_IMAGE + maxOutputTokens;
}

/** Cost of the requests that made one call of a role. A server that reports no usage leaves the price unknown. */
export function costOf(
  { choice, priceOf }: ModelEndpoint,
  replies: readonly RecordedReply[],
  flags: readonly string[],
): CallCost {
  const usages = replies.map(({ usage }) => usage);
  const known = usages.filter((usage) => usage !== null);
  const usage: Usage = {
    inputTokens: known.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: known.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
  const [first] = replies;
  return {
    usage,
    costUsd: known.length === usages.length ? priceOf(usage) : null,
    ...(first && {
      report: {
        provider: choice.provider,
        model: first.model,
        parameters: first.parameters,
        finishReason: first.finishReason,
        flags: [...new Set(flags)],
      },
    }),
  };
}

/** `error`, which ended a call of a role, with what the requests of that call cost that were answered. */
export function withCostOf(
  error: unknown,
  endpoint: ModelEndpoint,
  answered: readonly RecordedReply[],
): unknown {
  if (answered.length === 0) return error;
  const lostReply = error instanceof UnansweredCall ? error.lostReply : null;
  return new UnansweredCall(
    error instanceof Error ? error.message : String(error),
    { spent: costOf(endpoint, answered, []), lostReply },
    { cause: error },
  );
}

/** What every role does with its model: identity, effective parameters, one request at a time. */
import { createHash } from 'node:crypto';
import { randomGenerator } from '../../workflows/method/random.ts';
import type { EffectiveParameters, ModelEndpoint, ModelIdentity, SeedPath } from '../contract.ts';
import { capabilitiesOf, type Effective, effectiveOf, type Wishes } from './capabilities.ts';
import { type ChatRequest, type ModelClient, type RecordedReply, TOKENS_PER_IMAGE } from './client.ts';
import { createModelClient } from './factory.ts';
import type { Prompt, PromptPiece } from './prompt.ts';

/** Alternatives per token: as many as every server gives. */
const TOP_LOG_PROBS = 20;
const SEEDS = 2 ** 31;

export interface RolePlan {
  readonly name: string;
  /** Raised when replies are read differently. */
  readonly protocol: number;
  readonly prompts: readonly (Prompt | PromptPiece)[];
  readonly wishes: Wishes;
  readonly timeoutMs: number;
  readonly streamed: boolean;
}

/** What differs from one call to the next. */
export type Asked = Pick<ChatRequest, 'system' | 'user'> &
  Partial<Pick<ChatRequest, 'tools' | 'schema' | 'model' | 'images'>> & {
    /** For roles whose caller says it. */
    readonly temperature?: number;
    readonly seed?: SeedPath;
    /** The role's request as it came. */
    readonly request: unknown;
  };

/** What the requests of one call hold, beside the text of the prompt files. */
interface AskedAtMost {
  /** In each. */
  readonly characters: number;
  readonly images?: number;
  /** Left out: one. */
  readonly requests?: number;
}

export interface RoleModel {
  readonly identity: ModelIdentity;
  readonly effective: Effective;
  readonly client: ModelClient;
  /** One request; the signals are those of `ModelClient.chat`. */
  ask(asked: Asked, signal: AbortSignal, turn?: AbortSignal): Promise<RecordedReply>;
  /** Dollars; null where no price is known. */
  mostUsd(asked: AskedAtMost): number | null;
}

/** Throws `RangeError` when the configuration asks for what the model does not take. */
export function openRole(endpoint: ModelEndpoint, plan: RolePlan): RoleModel {
  const { choice } = endpoint;
  const effective = effectiveOf(choice, plan.wishes);
  const can = capabilitiesOf(choice);
  const client = createModelClient(endpoint, plan.name, plan.timeoutMs);
  const requestOf = ({ temperature, seed, request, ...asked }: Asked): ChatRequest => ({
    ...{ model: choice.model, tools: [], images: [], ...asked },
    schema: effective.structuredOutput ? (asked.schema ?? null) : null,
    temperature: effective.temperature === 'by call' ? (temperature ?? null) : effective.temperature,
    reasoningEffort: effective.reasoningEffort,
    seed: can.seed && seed !== undefined ? randomGenerator(seed).below(SEEDS) : null,
    maxOutputTokens: effective.maxOutputTokens,
    topLogProbs: effective.logProbs ? TOP_LOG_PROBS : null,
    tokenIds: effective.tokenIds,
    streamed: plan.streamed,
    origin: can.scripted ? { role: plan.name, request } : null,
  });
  return {
    identity: {
      provider: choice.provider,
      model: choice.model,
      revision: revisionOf(plan),
      effective: { ...effective },
    },
    effective,
    client,
    ask: async (asked, signal, turn) => {
      const request = requestOf(asked);
      return { ...(await client.chat(request, signal, turn)), parameters: parametersOf(request) };
    },
    mostUsd: ({ characters, images = 0, requests = 1 }) => {
      const prompt = (characters + promptsLength(plan)) / CHARACTERS_PER_TOKEN + images * TOKENS_PER_IMAGE;
      return endpoint.priceOf({
        inputTokens: Math.ceil(requests * prompt),
        outputTokens: requests * effective.maxOutputTokens,
      });
    },
  };
}

/** Fewer than prose has: pages are full of names, numbers and marks. */
const CHARACTERS_PER_TOKEN = 3;

const promptsLength = ({ prompts }: RolePlan): number => prompts.reduce((sum, { length }) => sum + length, 0);

function parametersOf(request: ChatRequest): EffectiveParameters {
  const { model, temperature, reasoningEffort, seed, maxOutputTokens, topLogProbs, tokenIds } = request;
  return {
    ...{ model, temperature, reasoningEffort, seed, maxOutputTokens, topLogProbs, tokenIds },
    schema: request.schema?.name ?? null,
    tools: request.tools.length,
    images: request.images.length,
  };
}

function revisionOf({ protocol, prompts }: RolePlan): string {
  const hash = createHash('sha256').update(String(protocol));
  for (const { digest } of prompts) hash.update(digest);
  return hash.digest('hex').slice(0, 16);
}

/** What every role does with its model: identity, effective parameters, one request at a time. */
import { createHash } from 'node:crypto';
import { randomGenerator } from '../../workflows/method/random.ts';
import type { ModelEndpoint, ModelIdentity, SeedPath } from '../contract.ts';
import { createAnthropicClient } from './anthropic.ts';
import { capabilitiesOf, type Effective, effectiveOf, type Wishes } from './capabilities.ts';
import { type ChatReply, type ChatRequest, gated, type ModelClient } from './client.ts';
import { createOpenAiClient } from './openai.ts';
import type { Prompt } from './prompt.ts';

/** Alternatives per token: as many as every server gives. */
const TOP_LOG_PROBS = 20;
const SEEDS = 2 ** 31;

export interface RolePlan {
  readonly name: string;
  /** Raised when replies are read differently. */
  readonly protocol: number;
  readonly prompts: readonly Prompt[];
  readonly wishes: Wishes;
  readonly timeoutMs: number;
  readonly streamed: boolean;
}

/** What differs from one call to the next. */
export type Asked = Pick<ChatRequest, 'system' | 'user'> &
  Partial<Pick<ChatRequest, 'tools' | 'schema' | 'model'>> & {
    /** For roles whose caller says it. */
    readonly temperature?: number;
    readonly seed?: SeedPath;
    /** The role's request as it came. */
    readonly request: unknown;
  };

export interface RoleModel {
  readonly identity: ModelIdentity;
  readonly effective: Effective;
  readonly client: ModelClient;
  ask(asked: Asked, signal: AbortSignal): Promise<ChatReply>;
}

/** Throws `RangeError` when the configuration asks for what the model does not take. */
export function openRole(endpoint: ModelEndpoint, plan: RolePlan): RoleModel {
  const { choice } = endpoint;
  const effective = effectiveOf(choice, plan.wishes);
  const can = capabilitiesOf(choice);
  const create = choice.provider === 'openai' ? createOpenAiClient : createAnthropicClient;
  const client = gated(create(endpoint, plan.timeoutMs), endpoint);
  return {
    identity: {
      provider: choice.provider,
      model: choice.model,
      revision: revisionOf(plan),
      effective: { ...effective },
    },
    effective,
    client,
    ask: ({ temperature, seed, request, ...asked }, signal) =>
      client.chat(
        {
          ...{ model: choice.model, tools: [], ...asked },
          schema: effective.structuredOutput ? (asked.schema ?? null) : null,
          temperature: effective.temperature === 'by call' ? (temperature ?? null) : effective.temperature,
          reasoningEffort: effective.reasoningEffort,
          seed: can.seed && seed !== undefined ? randomGenerator(seed).below(SEEDS) : null,
          maxOutputTokens: effective.maxOutputTokens,
          topLogProbs: effective.logProbs ? TOP_LOG_PROBS : null,
          tokenIds: effective.tokenIds,
          streamed: plan.streamed,
          origin: can.scripted ? { role: plan.name, request } : null,
        },
        signal,
      ),
  };
}

function revisionOf({ protocol, prompts }: RolePlan): string {
  const hash = createHash('sha256').update(String(protocol));
  for (const { digest } of prompts) hash.update(digest);
  return hash.digest('hex').slice(0, 16);
}

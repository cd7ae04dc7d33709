/**
 * What models take and give, by name, and what a role's wishes become of that. The effective values belong to a
 * run's identity: two runs that asked for the same and got something else must not look alike.
 */
import type { EndpointChoice, ModelCapabilities, ReasoningEffort } from '../contract.ts';

/** A server of open weights: vLLM and what resembles it. */
const openWeights: ModelCapabilities = {
  temperature: 'always',
  reasoningEfforts: [],
  logProbs: 'always',
  tokenIds: true,
  images: false,
  api: 'chat',
  stepScores: true,
  seed: true,
  structuredOutput: true,
  toolCalls: 'text',
  scripted: false,
};

const openAiReasoning: ModelCapabilities = {
  temperature: 'without-reasoning',
  reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'],
  logProbs: 'without-reasoning',
  tokenIds: false,
  images: true,
  api: 'chat',
  stepScores: true,
  seed: false,
  structuredOutput: true,
  toolCalls: 'native',
  scripted: false,
};

const openAiChat: ModelCapabilities = {
  ...openAiReasoning,
  temperature: 'always',
  reasoningEfforts: [],
  logProbs: 'always',
  seed: true,
};

const claude: ModelCapabilities = {
  temperature: 'without-reasoning',
  reasoningEfforts: ['low', 'medium', 'high', 'max'],
  logProbs: 'never',
  tokenIds: false,
  images: true,
  api: 'chat',
  stepScores: true,
  seed: false,
  structuredOutput: true,
  toolCalls: 'native',
  scripted: false,
};

/** The first pattern that matches the model's name holds. */
const table: readonly (readonly [name: RegExp, ModelCapabilities])[] = [
  // From 4.7 on no Claude takes sampling parameters.
  [/^claude-(opus|sonnet)-4-6\b/, claude],
  [/^claude-(opus|sonnet|haiku)-4-[0-5]\b/, { ...claude, reasoningEfforts: [] }],
  [
    /^claude-/,
    { ...claude, temperature: 'never', reasoningEfforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  ],
  [
    /^gpt-5(-mini|-nano)?(-20\d\d|$)/,
    { ...openAiReasoning, reasoningEfforts: ['minimal', 'low', 'medium', 'high'] },
  ],
  [/^gpt-[5-9]/, openAiReasoning],
  [
    /^o[134]\b/,
    {
      ...openAiReasoning,
      temperature: 'never',
      logProbs: 'never',
      reasoningEfforts: ['low', 'medium', 'high'],
    },
  ],
  [/^gpt-4/, openAiChat],
  [/gemma-[34]/i, { ...openWeights, images: true }],
];

export function capabilitiesOf(choice: EndpointChoice): ModelCapabilities {
  const listed = table.find(([name]) => name.test(choice.model))?.[1];
  const fallback = choice.provider === 'anthropic' ? claude : openWeights;
  return { ...(listed ?? fallback), ...choice.capabilities };
}

/** Providers count what a model thinks as a part of its reply. */
const REASONING_TOKENS = 16_000;

/** What a role wishes of a model. */
export interface Wishes {
  /** `by call`: the caller of the role says it each time. */
  readonly temperature: number | 'by call';
  readonly maxOutputTokens: number;
  readonly logProbs: boolean;
  readonly tokenIds: boolean;
  /** Left out: the role shows none. */
  readonly images?: boolean;
}

/** What it gets. */
export interface Effective {
  /** Null: the model's own. */
  readonly temperature: number | 'by call' | null;
  readonly reasoningEffort: ReasoningEffort | null;
  readonly maxOutputTokens: number;
  readonly logProbs: boolean;
  readonly tokenIds: boolean;
  readonly images: boolean;
  readonly structuredOutput: boolean;
  readonly toolCalls: 'native' | 'text';
  readonly api: 'chat' | 'completions';
}

/** Throws `RangeError` when the configuration asks for what the model does not take. */
export function effectiveOf(choice: EndpointChoice, wishes: Wishes): Effective {
  const { model, reasoningEffort = null } = choice;
  const can = capabilitiesOf(choice);
  if (reasoningEffort !== null && !can.reasoningEfforts.includes(reasoningEffort)) {
    const known = can.reasoningEfforts.join(', ') || 'none at all';
    throw new RangeError(`${model} takes no reasoning effort "${reasoningEffort}"; it takes: ${known}`);
  }
  const reasons = !['none', null].includes(reasoningEffort ?? defaultEffort(choice, can));
  const takes = (when: ModelCapabilities['temperature']): boolean =>
    when === 'always' || (when === 'without-reasoning' && !reasons);
  if (choice.temperature !== undefined && !takes(can.temperature)) {
    throw new RangeError(`${model} takes no temperature${reasons ? ' while it reasons' : ''}: leave it out`);
  }
  const isChat = can.api === 'chat';
  return {
    temperature: takes(can.temperature) ? (choice.temperature ?? wishes.temperature) : null,
    reasoningEffort,
    maxOutputTokens: choice.maxOutputTokens ?? wishes.maxOutputTokens + (reasons ? REASONING_TOKENS : 0),
    logProbs: wishes.logProbs && takes(can.logProbs),
    tokenIds: wishes.tokenIds && can.tokenIds,
    images: (wishes.images ?? false) && can.images && isChat,
    structuredOutput: can.structuredOutput && isChat,
    toolCalls: isChat ? can.toolCalls : 'text',
    api: can.api,
  };
}

/** OpenAI's reasoning models reason unless told not to; Claude reasons only when told how much. */
function defaultEffort({ provider }: EndpointChoice, can: ModelCapabilities): ReasoningEffort | null {
  return provider === 'openai' && can.reasoningEfforts.length > 0 ? 'medium' : null;
}

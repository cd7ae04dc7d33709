/** Asks a model for one thing at a time, to find out what it really takes and gives. */
import type { ModelCapabilities, ModelEndpoint, ShownImage, Usage } from '../contract.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { ChatReply, ChatRequest, ModelClient } from './client.ts';
import { createModelClient } from './factory.ts';

export type Feature = 'temperature' | 'tools' | 'logProbs' | 'tokenIds' | 'structuredOutput' | 'images';

export interface FeatureReport {
  readonly feature: Feature;
  readonly works: boolean;
  /** Why it does not; empty where it does. */
  readonly problem: string;
  /** Whether the capability table says that it does. */
  readonly expected: boolean;
}

export interface ProbeReport {
  readonly latencyMs: number;
  /** As the server names it. */
  readonly servedModel: string;
  readonly features: readonly FeatureReport[];
  /** Of all requests of the probe; null where the server does not say. */
  readonly usage: Usage | null;
}

interface Probe {
  readonly feature: Feature;
  readonly request: Partial<ChatRequest>;
  readonly gives: (reply: ChatReply) => boolean;
}

const object = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
  additionalProperties: false,
};

/** A PNG of a few white dots. */
const whiteDot: ShownImage = {
  mediaType: 'image/png',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAADklEQVR42mP4/5+BFAQA/U4f4d7IdZcAAAAASUVORK5CYII=',
  label: 'An image without meaning:',
};

const probes: readonly Probe[] = [
  { feature: 'temperature', request: { temperature: 0 }, gives: () => true },
  {
    feature: 'tools',
    request: { tools: [{ name: 'say', description: 'Says a word.', parameters: object }] },
    gives: ({ toolCalls }) => toolCalls.some(({ name }) => name === 'say'),
  },
  { feature: 'logProbs', request: { topLogProbs: 5 }, gives: ({ tokens }) => (tokens?.length ?? 0) > 0 },
  {
    feature: 'tokenIds',
    request: { tokenIds: true },
    gives: ({ tokenIds, promptTokenIds }) => tokenIds !== null && promptTokenIds !== null,
  },
  {
    feature: 'structuredOutput',
    request: { schema: { name: 'word', schema: object } },
    gives: ({ text }) => isWordObject(text),
  },
  { feature: 'images', request: { images: [whiteDot] }, gives: () => true },
];

const TIMEOUT_MS = 60_000;
/** Room for a model that reasons before it says its word. */
const MAX_OUTPUT_TOKENS = 2_048;

/**
 * One plain request, then one for each feature. Throws `ProviderError` when the plain one fails: then nothing can be
 * said of the rest.
 */
export async function probeModel(endpoint: ModelEndpoint, signal: AbortSignal): Promise<ProbeReport> {
  const { choice } = endpoint;
  const client = createModelClient(endpoint, 'probe', TIMEOUT_MS);
  const plain: ChatRequest = {
    model: choice.model,
    system: 'You answer with one word.',
    user: 'Say the word "ready".',
    ...{ images: [], tools: [], schema: null, temperature: null, seed: null },
    reasoningEffort: choice.reasoningEffort ?? null,
    maxOutputTokens: choice.maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    ...{ topLogProbs: null, tokenIds: false, streamed: false, origin: null },
  };
  const began = performance.now();
  const first = await client.chat(plain, signal);
  const latencyMs = performance.now() - began;
  const usages: (Usage | null)[] = [first.usage];
  const features: FeatureReport[] = [];
  for (const probe of probes) {
    const { problem, usage } = await tryFeature(client, plain, probe, signal);
    const expected = isExpected(probe.feature, capabilitiesOf(choice));
    features.push({ feature: probe.feature, works: problem === '', problem, expected });
    usages.push(usage);
  }
  return { latencyMs, servedModel: first.model, features, usage: sumOf(usages) };
}

const nothing: Usage = { inputTokens: 0, outputTokens: 0 };

async function tryFeature(
  client: ModelClient,
  plain: ChatRequest,
  { request, gives }: Probe,
  signal: AbortSignal,
): Promise<{ readonly problem: string; readonly usage: Usage | null }> {
  try {
    const reply = await client.chat({ ...plain, ...request }, signal);
    return { problem: gives(reply) ? '' : 'accepted, but not given', usage: reply.usage };
  } catch (error) {
    signal.throwIfAborted();
    // What is refused is not charged for.
    return { problem: error instanceof Error ? error.message : String(error), usage: nothing };
  }
}

function isExpected(feature: Feature, can: ModelCapabilities): boolean {
  switch (feature) {
    case 'temperature':
    case 'logProbs':
      return can[feature] === 'always';
    case 'tools':
      return can.toolCalls === 'native';
    case 'tokenIds':
    case 'structuredOutput':
    case 'images':
      return can[feature];
  }
}

function isWordObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'word' in value;
  } catch {
    return false;
  }
}

function sumOf(usages: readonly (Usage | null)[]): Usage | null {
  let sum = nothing;
  for (const usage of usages) {
    if (usage === null) return null;
    sum = {
      inputTokens: sum.inputTokens + usage.inputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
    };
  }
  return sum;
}

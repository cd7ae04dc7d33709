/** A language model as the policy: one browser tool call a turn, prompts after the paper's appendix A.1. */
import { createHash } from 'node:crypto';
import type { Action } from '../../../benchmarks/contract.ts';
import type { ModelEndpoint, Policy, PolicyDecision, PolicyFactory, PolicyRequest } from '../../contract.ts';
import { type ChatReply, type ChatRequest, costOf, withCostOf } from '../client.ts';
import { ProviderError } from '../errors.ts';
import { createFence, type Fence } from '../fence.ts';
import { observationText, traceText } from '../page-text.ts';
import { loadPiece, loadPrompt, type Prompt } from '../prompt.ts';
import { openRole, type RoleModel } from '../role.ts';
import { type FoundCall, findToolCall, tokensOf } from '../tool-call.ts';
import { toolDefinitions, toolLines } from '../tools.ts';

/** Characters of the observation in the prompt: about 12,000 tokens. */
const LONGEST_OBSERVATION = 48_000;

const PUBLISHING_MS = 120_000;

/** For applications in the manner of WAI, our sandbox among them. */
const usual = loadPrompt('policy-wai');
/** By benchmark. */
const prompts: Readonly<Record<string, Prompt>> = {
  vwa: loadPrompt('policy-vwa'),
  om2w: loadPrompt('policy-om2w'),
};
/** Benchmarks whose tasks are about what pages look like. */
const visual: ReadonlySet<string> = new Set(['vwa']);
const callInText = loadPiece('policy-call-in-text');
const fences = loadPiece('fences');

/** Where adapters come from: makes one known to the server under its name. Without it they are there already. */
type PublishAdapter = (name: string, adapter: Uint8Array, signal: AbortSignal) => Promise<void>;

/** Adapters are served under a name made from their digest, so that a stale one can never answer. */
export function createProviderPolicies(endpoint: ModelEndpoint, publish?: PublishAdapter): PolicyFactory {
  const role = openRole(endpoint, {
    name: 'policy',
    protocol: 1,
    prompts: [usual, ...Object.values(prompts), callInText, fences],
    wishes: { temperature: 'by call', maxOutputTokens: 2048, logProbs: true, tokenIds: true, images: true },
    timeoutMs: 180_000,
    streamed: false,
  });
  return {
    identity: role.identity,
    open: async (adapter) => {
      if (adapter === null) return openPolicy(endpoint, role, endpoint.choice.model);
      const name = adapterName(adapter);
      const deadline = AbortSignal.timeout(PUBLISHING_MS);
      await publish?.(name, adapter, deadline);
      await assertServed(role, name, deadline);
      return openPolicy(endpoint, role, name);
    },
  };
}

const adapterName = (adapter: Uint8Array): string =>
  `clift-${createHash('sha256').update(adapter).digest('hex').slice(0, 32)}`;

async function assertServed({ client }: RoleModel, model: string, signal: AbortSignal): Promise<void> {
  const served = await client.models(signal);
  if (served.some(({ id }) => id === model)) return;
  throw new ProviderError('not_found', `The server has no adapter ${model}`);
}

function openPolicy(endpoint: ModelEndpoint, role: RoleModel, model: string): Policy {
  return {
    identity: role.identity,
    mostUsd: ({ history, observation, images = [] }) =>
      role.mostUsd({
        characters: JSON.stringify([history, observation]).length + toolLines.length,
        images: images.length,
      }),
    looksAtImages: (benchmark) => role.effective.images && visual.has(benchmark),
    decide: async (request, signal) => {
      const fence = createFence(request);
      const prompt = promptOf(request, role, fence);
      const { temperature, seed, images: shown = [] } = request;
      const images = role.effective.images ? shown : [];
      const tools = isNative(role) ? toolDefinitions : [];
      const reply = await role.ask({ ...prompt, images, model, tools, temperature, seed, request }, signal);
      const found = findToolCall(reply);
      const sampled = sampledOf(reply, found, role);
      if (sampled === null) throw withCostOf(tokenIdsMissing(), endpoint, [reply]);
      const isLost = role.effective.tokenIds && found !== null && sampled.toolCallSpan === null;
      return {
        action: found?.action ?? actionWithoutCall(reply),
        prompt: {
          ...{ version: 1, ...prompt, tokenIds: reply.promptTokenIds },
          ...(images.length > 0 && { images }),
        },
        ...sampled,
        said: { text: reply.text, toolCall: found?.characters ?? null },
        cost: costOf(
          endpoint,
          [reply],
          [
            ...fence.flags(reply.text),
            ...(isLost ? ['the tokens do not spell the tool call: no gradient comes from this step'] : []),
          ],
        ),
      };
    },
  };
}

const isNative = ({ effective }: RoleModel): boolean => effective.toolCalls === 'native';

function promptOf(
  { task, history, observation }: PolicyRequest,
  role: RoleModel,
  fence: Fence,
): Pick<ChatRequest, 'system' | 'user'> {
  const prompt = prompts[task.benchmark] ?? usual;
  return prompt.fill({
    protocol: isNative(role) ? '' : callInText.fill({ tools: toolLines }),
    fences: fences.fill({}),
    task: task.instruction,
    trace: fence.around('actions', traceText(history)),
    observation: fence.around('page', observationText(observation, LONGEST_OBSERVATION)),
  });
}

/** A turn lost, or the end for a model that refuses: not `infeasible`, which some tasks ask for. */
function actionWithoutCall({ ended }: ChatReply): Action {
  return ended === 'refusal' ? { tool: 'stop', answer: null } : { tool: 'wait' };
}

/** Null: the server left out what training needs. */
function sampledOf(
  { text, tokens, tokenIds }: ChatReply,
  found: FoundCall | null,
  { effective }: RoleModel,
): Pick<PolicyDecision, 'tokenIds' | 'logProbs' | 'toolCallSpan'> | null {
  if (!effective.tokenIds) return { tokenIds: [], logProbs: [], toolCallSpan: null };
  if (tokens === null || tokenIds === null || tokens.length !== tokenIds.length) return null;
  const characters = found?.characters ?? null;
  return {
    tokenIds,
    logProbs: tokens.map(({ logProb }) => logProb),
    toolCallSpan: characters === null ? null : tokensOf(text, tokens, characters),
  };
}

const tokenIdsMissing = () =>
  new ProviderError(
    'unsupported',
    'The server gave no id and log-probability for every token, which training needs (vLLM does); ' +
      'to act without training set capabilities.tokenIds of the policy to false',
  );

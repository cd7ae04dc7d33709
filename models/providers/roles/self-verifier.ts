/** The base model answers yes/no questions about one URL state (METHOD 1.4). */
import type { AnswerRequest, ModelEndpoint, SelfVerifier } from '../../contract.ts';
import { costOf, type RecordedReply, withCostOf } from '../client.ts';
import { ProviderError } from '../errors.ts';
import { createFence, type Fence } from '../fence.ts';
import { seenText } from '../page-text.ts';
import { loadPiece, loadPrompt } from '../prompt.ts';
import { openRole, type RoleModel } from '../role.ts';
import { readYesNo } from '../yes-no.ts';

/** Characters of a state: about 8,000 tokens. */
const LONGEST_STATE = 32_000;
/** Of a question, usually. */
const LONGEST_QUESTION = 300;

const prompt = loadPrompt('self-verifier');
const fences = loadPiece('fences');

/**
 * One request a question, all at once: they differ in their last lines only, so that a server keeps the rest. The
 * first call makes sure that the model is a base model: a trained adapter must not vouch for itself. A provider's own
 * address serves no adapters, and its list leaves out names that stand for a latest release.
 */
export function createProviderSelfVerifier(endpoint: ModelEndpoint): SelfVerifier {
  // An answer is one word, however much the same model may write as the policy.
  const { maxOutputTokens: _, ...choice } = endpoint.choice;
  const role = openRole(
    { ...endpoint, choice },
    {
      name: 'self-verifier',
      protocol: 1,
      prompts: [prompt, fences],
      // Room for the marks that some models put before their answer.
      wishes: { temperature: 0, maxOutputTokens: 8, logProbs: true, tokenIds: false },
      timeoutMs: 120_000,
      streamed: false,
    },
  );
  let detached: Promise<void> | null = null;
  const assertDetached = (): Promise<void> => {
    detached ??= assertBaseModel(role, endpoint.choice.model).catch((error: unknown) => {
      detached = null;
      throw error;
    });
    return detached;
  };
  return {
    identity: role.identity,
    mostUsd: ({ seen, questions }) =>
      role.mostUsd({
        characters: seenText(seen, LONGEST_STATE).length + LONGEST_QUESTION,
        requests: questions.length,
      }),
    answer: async (request, signal) => {
      if (endpoint.baseUrl !== null) await assertDetached();
      const fence = createFence(request);
      const seen = fence.around('state', seenText(request.seen, LONGEST_STATE));
      const replies = await askAll({ endpoint, role, fence }, request, seen, signal);
      const answers = request.questions.map(({ id, version }, index) => {
        const reply = replies[index];
        const pYes = reply === undefined ? null : readYesNo(reply);
        return { questionId: id, version, pYes, source: 'model' as const };
      });
      const flags = replies.flatMap(({ text }) => fence.flags(text));
      return { answers, cost: costOf(endpoint, replies, flags) };
    },
  };
}

const LISTING_MS = 60_000;

async function assertBaseModel({ client }: RoleModel, model: string): Promise<void> {
  const served = await client.models(AbortSignal.timeout(LISTING_MS));
  const found = served.find(({ id }) => id === model);
  if (found === undefined) throw new ProviderError('not_found', `The server has no model ${model}`);
  if (found.parent === null) return;
  throw new ProviderError('unsupported', `${model} is an adapter of ${found.parent}: name the base model`);
}

interface Asker {
  readonly endpoint: ModelEndpoint;
  readonly role: RoleModel;
  readonly fence: Fence;
}

/**
 * If one fails, the whole batch will be asked again: those that wait for their turn are called off. Those under way are
 * paid for, and waited for, so that what they cost is known.
 */
async function askAll(
  { endpoint, role, fence }: Asker,
  { seen, questions }: AnswerRequest,
  shown: string,
  signal: AbortSignal,
): Promise<readonly RecordedReply[]> {
  const calledOff = new AbortController();
  const outcomes = await Promise.allSettled(
    questions.map(async (question) => {
      try {
        const filled = prompt.fill({
          fences: fences.fill({}),
          task: seen.instruction,
          seen: shown,
          question: fence.around('question', question.text),
        });
        const request = { seen, questions: [question] };
        return await role.ask({ ...filled, request }, signal, calledOff.signal);
      } catch (error) {
        calledOff.abort(error);
        throw error;
      }
    }),
  );
  const replies = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (replies.length === questions.length) return replies;
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  throw withCostOf(signal.aborted ? signal.reason : worstOf(errors), endpoint, replies);
}

/** What no retry mends, else what may have cost money, else any. */
function worstOf(errors: readonly unknown[]): unknown {
  const ofServer = errors.filter((error) => error instanceof ProviderError);
  return (
    ofServer.find(({ retryable }) => !retryable) ??
    ofServer.find(({ lostReply }) => lostReply !== null) ??
    errors[0]
  );
}

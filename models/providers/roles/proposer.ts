/** A language model writes new questions from pairs that the bank does not tell apart (METHOD 5.1). */
import { z } from 'zod';
import { parseAssertion } from '../../../workflows/method/parse-assertion.ts';
import type { Assertion } from '../../../workflows/method/types.ts';
import type {
  ModelEndpoint,
  ProposeRequest,
  Proposer,
  ProposerTrajectory,
  QuestionDraft,
} from '../../contract.ts';
import { type ChatReply, costOf } from '../client.ts';
import { createFence, type Fence } from '../fence.ts';
import { seenText, traceText } from '../page-text.ts';
import { loadPiece, loadPrompt } from '../prompt.ts';
import { openRole } from '../role.ts';
import { outputSchema, parseReply } from '../structured-output.ts';
import { questionLines, readPolarity, readTextAndScope } from '../written-question.ts';

/** Characters of the states of one trajectory. */
const LONGEST_STATES = 12_000;

const prompt = loadPrompt('proposer');
const fences = loadPiece('fences');

const draftSchema = z.object({
  pair: z.number(),
  text: z.string(),
  scope: z.string(),
  polarity: z.number(),
  assertion: z.string().nullable(),
});
const draftsSchema = z.object({ questions: z.array(draftSchema) });
const schema = { name: 'questions', schema: outputSchema(draftsSchema) };

export function createProviderProposer(endpoint: ModelEndpoint): Proposer {
  const role = openRole(endpoint, {
    name: 'proposer',
    protocol: 1,
    prompts: [prompt, fences],
    wishes: { temperature: 0, maxOutputTokens: 8_000, logProbs: false, tokenIds: false },
    timeoutMs: 600_000,
    streamed: true,
  });
  return {
    identity: role.identity,
    mostUsd: ({ pairs, existing }) => role.mostUsd({ characters: JSON.stringify([pairs, existing]).length }),
    propose: async (request, signal) => {
      const fence = createFence(request);
      const { min, max } = request.count;
      const { system, user } = prompt.fill({
        fences: fences.fill({}),
        pairs: request.pairs.map((pair, index) => pairText(pair, index + 1, fence)).join('\n\n'),
        existing: fence.around('existing questions', questionLines(request.existing)),
        hosts: fence.around('hosts', request.uncoveredHosts.join('\n') || '(none)'),
        ...{ min: String(min), max: String(max) },
      });
      const reply = await role.ask({ system, user, schema, seed: request.seed, request }, signal);
      return { drafts: readDrafts(reply, request), cost: costOf(endpoint, [reply], fence.flags(reply.text)) };
    },
  };
}

/** The drafts that can be used, in order, at most as many as asked for; a reply that is no list has none. */
export function readDrafts(
  reply: ChatReply,
  { pairs, count }: Pick<ProposeRequest, 'pairs' | 'count'>,
): readonly QuestionDraft[] {
  const parsed = parseReply(draftsSchema, reply);
  if (!parsed.ok) return [];
  const drafts = parsed.value.questions.flatMap((written) => {
    const read = readTextAndScope(written);
    const groupId = pairs[written.pair - 1]?.groupId;
    const polarity = readPolarity(written.polarity);
    if (read === null || groupId === undefined || polarity === null) return [];
    return [{ ...read, polarity, assertion: readAssertion(written.assertion), groupId }];
  });
  return drafts.slice(0, count.max);
}

/** A question whose assertion cannot be read is left to the self-verifier. */
function readAssertion(text: string | null): Assertion | null {
  if (text === null) return null;
  try {
    return parseAssertion(JSON.parse(text));
  } catch {
    return null;
  }
}

function pairText(
  { task, better, worse }: ProposeRequest['pairs'][number],
  number: number,
  fence: Fence,
): string {
  return [
    `Pair ${number}, task: ${task.instruction}`,
    'The better attempt:',
    fence.around(`pair ${number}, better`, trajectoryText(better)),
    'The worse attempt:',
    fence.around(`pair ${number}, worse`, trajectoryText(worse)),
  ].join('\n');
}

function trajectoryText({ judgeScore, rationale, trace, states }: ProposerTrajectory): string {
  const room = LONGEST_STATES / Math.max(1, states.length);
  return [
    `Score ${judgeScore.toFixed(2)}: ${rationale}`,
    'Actions:',
    traceText(trace),
    ...states.map((state) => `State:\n${seenText({ ...state, steps: [] }, room)}`),
  ].join('\n');
}

/** A language model carries a bank over to other sites: rewrites its questions, and adds those that notice failures. */
import { z } from 'zod';
import {
  type ExpandRequest,
  type FailureMode,
  type FailureQuestion,
  failureModes,
  type ModelEndpoint,
  type Translation,
  type Translator,
} from '../../contract.ts';
import { type ChatReply, costOf } from '../client.ts';
import { createFence } from '../fence.ts';
import { loadPiece, loadPrompt } from '../prompt.ts';
import { openRole } from '../role.ts';
import { outputSchema, parseReply } from '../structured-output.ts';
import { questionLines, readPolarity, readTextAndScope } from '../written-question.ts';

const translatorPrompt = loadPrompt('translator');
const modesPrompt = loadPrompt('failure-modes');
const fences = loadPiece('fences');

const translationsSchema = z.object({
  questions: z.array(
    z.object({
      number: z.number(),
      decision: z.enum(['keep', 'rewrite', 'drop']),
      text: z.string().nullable(),
      scope: z.string().nullable(),
      reason: z.string(),
    }),
  ),
});
const failuresSchema = z.object({
  questions: z.array(
    z.object({ mode: z.enum(failureModes), text: z.string(), scope: z.string(), polarity: z.number() }),
  ),
});
const translations = { name: 'translations', schema: outputSchema(translationsSchema) };
const failures = { name: 'failures', schema: outputSchema(failuresSchema) };

/** What agents do when they fail in this way, for the model. */
const meanings: Readonly<Record<FailureMode, string>> = {
  'bot-block': 'the site shows a captcha, a bot check, a login wall or an error page in place of its content',
  wandering: 'the attempt repeats itself, goes round in circles or runs out of time away from its goal',
  'made-up-extraction': 'the answer holds facts that no page showed',
  'partial-filters': 'some of the filters, orders or values that the task names were never applied',
  'search-for-detail':
    'the attempt ends on a list of results where the task asks about one of them, or the reverse',
  'wrong-answer':
    'the answer is of the wrong kind, about the wrong thing, or misses a part of what was asked',
};

export function createProviderTranslator(endpoint: ModelEndpoint): Translator {
  const role = openRole(endpoint, {
    name: 'translator',
    protocol: 1,
    prompts: [translatorPrompt, modesPrompt, fences],
    wishes: { temperature: 0, maxOutputTokens: 8_000, logProbs: false, tokenIds: false },
    timeoutMs: 600_000,
    streamed: true,
  });
  return {
    identity: role.identity,
    mostUsd: (request) => role.mostUsd({ characters: JSON.stringify(request).length }),
    translate: async (request, signal) => {
      const fence = createFence(request);
      const lines = request.questions.map((question, index) => `${index + 1}. ${questionLines([question])}`);
      const prompt = translatorPrompt.fill({
        fences: fences.fill({}),
        target: fence.around('sites', request.target),
        questions: fence.around('questions', lines.join('\n')),
        count: String(request.questions.length),
      });
      const reply = await role.ask({ ...prompt, schema: translations, seed: request.seed, request }, signal);
      const cost = costOf(endpoint, [reply], fence.flags(reply.text));
      return { translations: readTranslations(reply, request.questions.length), cost };
    },
    expand: async (request, signal) => {
      const fence = createFence(request);
      const prompt = modesPrompt.fill({
        fences: fences.fill({}),
        target: fence.around('sites', request.target),
        modes: request.modes.map((mode) => `- ${mode}: ${meanings[mode]}`).join('\n'),
        existing: fence.around('existing questions', questionLines(request.existing)),
        perMode: String(request.perMode),
      });
      const reply = await role.ask({ ...prompt, schema: failures, seed: request.seed, request }, signal);
      const cost = costOf(endpoint, [reply], fence.flags(reply.text));
      return { questions: readFailureQuestions(reply, request), cost };
    },
  };
}

/** One for every question asked, in order; null where the reply has none that can be used. */
export function readTranslations(reply: ChatReply, count: number): readonly (Translation | null)[] {
  const parsed = parseReply(translationsSchema, reply);
  const written = parsed.ok ? parsed.value.questions : [];
  return Array.from({ length: count }, (_, index) => {
    const [only, ...more] = written.filter(({ number }) => number === index + 1);
    return only === undefined || more.length > 0 ? null : readTranslation(only);
  });
}

function readTranslation({
  decision,
  text,
  scope,
  reason,
}: z.infer<typeof translationsSchema>['questions'][number]): Translation | null {
  if (decision !== 'rewrite') return { decision, reason };
  const rewritten = readTextAndScope({ text: text ?? '', scope: scope ?? '' });
  return rewritten === null ? null : { decision, reason, ...rewritten };
}

/** Those that can be used, in order, at most as many of a mode as asked for. */
export function readFailureQuestions(
  reply: ChatReply,
  { modes, perMode }: Pick<ExpandRequest, 'modes' | 'perMode'>,
): readonly FailureQuestion[] {
  const parsed = parseReply(failuresSchema, reply);
  const written = parsed.ok ? parsed.value.questions : [];
  const usable = written.flatMap((question): FailureQuestion[] => {
    const read = readTextAndScope(question);
    const polarity = readPolarity(question.polarity);
    if (read === null || polarity === null || polarity === 0) return [];
    return [{ mode: question.mode, polarity, ...read }];
  });
  return modes.flatMap((mode) => usable.filter((question) => question.mode === mode).slice(0, perMode));
}

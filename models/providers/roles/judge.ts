/** A language model as the training judge: one comparative call for a group (METHOD 1.1). */
import { z } from 'zod';
import type { Observation, TraceStep } from '../../../benchmarks/contract.ts';
import type {
  Judge,
  JudgedTrace,
  JudgedTrajectory,
  JudgeReply,
  JudgeRequest,
  ModelEndpoint,
} from '../../contract.ts';
import { type ChatReply, costOf } from '../client.ts';
import { ProviderError } from '../errors.ts';
import { createFence, type Fence } from '../fence.ts';
import { observationText, traceLines } from '../page-text.ts';
import { loadPrompt } from '../prompt.ts';
import { openRole } from '../role.ts';
import { outputSchema, parseReply } from '../structured-output.ts';

/** Characters of all attempts together: about 100,000 tokens. Action lines are kept even beyond it. */
const LONGEST_ATTEMPTS = 400_000;
/** Characters of one page between two actions, and of the last page of an attempt. */
const LONGEST_PAGE = 1_500;
const LONGEST_LAST_PAGE = 6_000;

const prompt = loadPrompt('judge');
const repairPrompt = loadPrompt('judge-repair');
const fences = loadPrompt('fences');

const judgementSchema = z.object({
  attempts: z.array(
    z.object({
      attempt: z.number(),
      score: z.number(),
      stepScores: z.array(z.number()),
      rationale: z.string(),
    }),
  ),
});
const schema = { name: 'judgement', schema: outputSchema(judgementSchema) };

export function createProviderJudge(endpoint: ModelEndpoint): Judge {
  const role = openRole(endpoint, {
    name: 'judge',
    protocol: 1,
    prompts: [prompt, repairPrompt, fences],
    wishes: { temperature: 0, maxOutputTokens: 16_000, logProbs: false, tokenIds: false },
    timeoutMs: 600_000,
    streamed: true,
  });
  return {
    identity: role.identity,
    judge: async (request, readPage, signal) => {
      const fence = createFence(request);
      const attempts = await attemptsText(request.traces, readPage, fence);
      const { system, user } = prompt.fill({
        fences: fences.fill({}).system,
        task: request.task.instruction,
        ...{ attempts, ...countsOf(request.traces) },
      });
      try {
        const reply = await role.ask(
          { system, user: `${user}${repairText(request, fence)}`, schema, request },
          signal,
        );
        const cost = costOf(endpoint, [reply], fence.flags(reply.text));
        return { reply: readJudgement(reply, request.traces), cost };
      } catch (error) {
        // One group that is too long says nothing about the next one.
        if (!(error instanceof ProviderError) || error.kind !== 'context_length') throw error;
        const nothing = { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 };
        return { reply: { ok: false, problem: error.message, text: '' }, cost: nothing };
      }
    },
  };
}

/** One judgement for every trace, one score for every step, all in [0, 1]; else the reply is none. */
export function readJudgement(reply: ChatReply, traces: JudgeRequest['traces']): JudgeReply {
  const parsed = parseReply(judgementSchema, reply);
  if (!parsed.ok) return { ok: false, problem: parsed.problem, text: reply.text };
  const judged: JudgedTrajectory[] = [];
  for (const [index, { steps }] of traces.entries()) {
    const given = parsed.value.attempts.filter(({ attempt }) => attempt === index + 1);
    const problem = problemOf(given, steps.length, index + 1);
    if (problem !== null) return { ok: false, problem, text: reply.text };
    judged.push(...given.map(({ score, stepScores, rationale }) => ({ score, stepScores, rationale })));
  }
  if (parsed.value.attempts.length === judged.length) return { ok: true, judged };
  return { ok: false, problem: `There are ${traces.length} attempts, no others.`, text: reply.text };
}

function problemOf(given: readonly JudgedTrajectory[], steps: number, attempt: number): string | null {
  const [judgement] = given;
  if (judgement === undefined || given.length > 1) {
    return `Attempt ${attempt} has ${given.length} entries instead of one.`;
  }
  const { score, stepScores } = judgement;
  if (stepScores.length !== steps) {
    return `Attempt ${attempt} has ${stepScores.length} step scores for ${steps} actions.`;
  }
  const outside = [score, ...stepScores].find((value) => !(value >= 0 && value <= 1));
  return outside === undefined
    ? null
    : `Attempt ${attempt} has the score ${outside}, which is not from 0 to 1.`;
}

function countsOf(traces: JudgeRequest['traces']): { readonly count: string; readonly actions: string } {
  const actions = traces.map(({ steps }, index) => `attempt ${index + 1}: ${steps.length}`);
  return { count: String(traces.length), actions: actions.join(', ') };
}

function repairText({ repair, traces }: JudgeRequest, fence: Fence): string {
  if (repair === null) return '';
  const problem = fence.around('problem', repair.problem);
  const reply = fence.around('earlier reply', repair.text);
  return `\n\n${repairPrompt.fill({ problem, reply, ...countsOf(traces) }).system}`;
}

// ---- what the judge sees -----------------------------------------------------------------------------------

async function attemptsText(
  traces: JudgeRequest['traces'],
  readPage: (digest: string) => Promise<Observation>,
  fence: Fence,
): Promise<string> {
  const actions = traces.flatMap(({ steps }) => traceLines(steps)).join('\n').length;
  const pages = traces.reduce((sum, { observationDigests }) => sum + observationDigests.length, 0);
  const room = Math.max(0, LONGEST_ATTEMPTS - actions) / Math.max(1, pages);
  const texts = await Promise.all(traces.map((trace) => attemptText(trace, readPage, room)));
  return texts
    .map((text, index) => `Attempt ${index + 1}:\n${fence.around(`attempt ${index + 1}`, text)}`)
    .join('\n\n');
}

/** Every action keeps its numbered line; `room` characters are what each page may take. */
async function attemptText(
  { steps, answer, observationDigests }: JudgedTrace,
  readPage: (digest: string) => Promise<Observation>,
  room: number,
): Promise<string> {
  const pageText = async (digest: string | null | undefined, limit: number): Promise<string> =>
    digest === null || digest === undefined
      ? '(not recorded)'
      : observationText(await readPage(digest), limit);
  const lines = traceLines(steps);
  const parts = await Promise.all(
    steps.map(async (_: TraceStep, index) => {
      const page = await pageText(observationDigests[index], Math.min(room, LONGEST_PAGE));
      return `${indented(page)}\n${lines[index]}`;
    }),
  );
  const last = await pageText(
    observationDigests.at(-1),
    Math.min(Math.max(room, LONGEST_PAGE), LONGEST_LAST_PAGE),
  );
  const given = answer === null ? 'No final answer.' : `Final answer: ${JSON.stringify(answer)}`;
  return [...parts, `Last page:\n${indented(last)}`, given].join('\n');
}

/** So that a page cannot look like an action's line. */
const indented = (text: string): string => text.replaceAll(/^/gm, '    ');

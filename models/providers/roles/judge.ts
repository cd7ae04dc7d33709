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
import { capabilitiesOf } from '../capabilities.ts';
import { type ChatReply, costOf } from '../client.ts';
import { ProviderError } from '../errors.ts';
import { createFence, type Fence } from '../fence.ts';
import { observationText, traceLines } from '../page-text.ts';
import { loadPiece, loadPrompt } from '../prompt.ts';
import { openRole } from '../role.ts';
import { outputSchema, type Parsed, parseReply } from '../structured-output.ts';

/** Characters of all attempts together: about 100,000 tokens. Action lines are kept even beyond it. */
const LONGEST_ATTEMPTS = 400_000;
/** Characters of one page between two actions, and of the last page of an attempt. */
const LONGEST_PAGE = 1_500;
const LONGEST_LAST_PAGE = 6_000;

const repairPrompt = loadPiece('judge-repair');
const fences = loadPiece('fences');

const attemptSchema = z.object({
  attempt: z.number(),
  score: z.number(),
  stepScores: z.array(z.number()),
  rationale: z.string(),
});
const judgementSchema = z.object({ attempts: z.array(attemptSchema) });
const overallSchema = z.object({ attempts: z.array(attemptSchema.omit({ stepScores: true })) });

/** Judges that are declared to score whole attempts only are asked for no more (METHOD 4.2). */
const stepwise = { prompt: loadPrompt('judge'), schema: judgementSchema };
const overall = { prompt: loadPrompt('judge-trajectories'), schema: overallSchema };

export function createProviderJudge(endpoint: ModelEndpoint): Judge {
  const { stepScores } = capabilitiesOf(endpoint.choice);
  const { prompt, schema } = stepScores ? stepwise : overall;
  const role = openRole(endpoint, {
    name: 'judge',
    protocol: 1,
    prompts: [prompt, repairPrompt, fences],
    wishes: { temperature: 0, maxOutputTokens: 16_000, logProbs: false, tokenIds: false },
    timeoutMs: 600_000,
    streamed: true,
  });
  const held = { name: 'judgement', schema: outputSchema(schema) };
  return {
    identity: role.identity,
    mostUsd: (request) => role.mostUsd({ characters: longestPrompt(request) }),
    judge: async (request, readPage, signal) => {
      const fence = createFence(request);
      const attempts = await attemptsText(request.traces, readPage, fence);
      const counts = countsOf(request.traces);
      const { system, user } = prompt.fill({
        fences: fences.fill({}),
        task: request.task.instruction,
        ...{ attempts, count: counts.count },
        ...(stepScores && { actions: counts.actions }),
      });
      try {
        const message = `${user}${repairText(request, fence)}`;
        const reply = await role.ask({ system, user: message, schema: held, request }, signal);
        const cost = costOf(endpoint, [reply], fence.flags(reply.text));
        return { reply: readJudgement(reply, request.traces, stepScores), cost };
      } catch (error) {
        // One group that is too long says nothing about the next one.
        if (!(error instanceof ProviderError) || error.kind !== 'context_length') throw error;
        const nothing = { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 };
        return { reply: { ok: false, problem: error.message, text: '' }, cost: nothing };
      }
    },
  };
}

function longestPrompt({ traces, repair }: JudgeRequest): number {
  const pages = traces.reduce((sum, { observationDigests }) => sum + observationDigests.length, 0);
  const shown = Math.min(LONGEST_ATTEMPTS, pages * LONGEST_PAGE + traces.length * LONGEST_LAST_PAGE);
  return (
    shown + traces.flatMap(({ steps }) => traceLines(steps)).join('').length + (repair?.text.length ?? 0)
  );
}

/**
 * One judgement for every trace, one score for every step, all in [0, 1]; else the reply is none. Without step scores
 * the attempt's own score stands for each of its steps.
 */
export function readJudgement(
  reply: ChatReply,
  traces: JudgeRequest['traces'],
  stepScores = true,
): JudgeReply {
  const parsed = stepScores ? parseReply(judgementSchema, reply) : readOverall(reply, traces);
  if (!parsed.ok) return { ok: false, problem: parsed.problem, text: reply.text };
  const judged: JudgedTrajectory[] = [];
  for (const [index, { steps }] of traces.entries()) {
    const given = parsed.value.attempts.filter(({ attempt }) => attempt === index + 1);
    const problem = problemOf(given, steps.length, index + 1);
    if (problem !== null) return { ok: false, problem, text: reply.text };
    judged.push(...given.map(({ attempt: _, ...judgement }) => judgement));
  }
  if (parsed.value.attempts.length === judged.length) return { ok: true, judged };
  return { ok: false, problem: `There are ${traces.length} attempts, no others.`, text: reply.text };
}

function readOverall(
  reply: ChatReply,
  traces: JudgeRequest['traces'],
): Parsed<z.infer<typeof judgementSchema>> {
  const parsed = parseReply(overallSchema, reply);
  if (!parsed.ok) return parsed;
  const attempts = parsed.value.attempts.map((given) => {
    const steps = traces[given.attempt - 1]?.steps ?? [];
    return { ...given, stepScores: steps.map(() => given.score) };
  });
  return { ok: true, value: { attempts } };
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
  return `\n\n${repairPrompt.fill({ problem, reply, count: String(traces.length) })}`;
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

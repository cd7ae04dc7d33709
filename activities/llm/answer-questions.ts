import { z } from 'zod';
import type { BankStore, NewRollout, StoredAnswer, StoredRollout } from '../../bank-store/contract.ts';
import type { Answer, AnswerRequest, SelfVerifier } from '../../models/contract.ts';
import { evaluateAssertion } from '../../workflows/method/assertion.ts';
import { indexCertificates, lookUp, questionKey } from '../../workflows/method/lookup.ts';
import { randomGenerator, type SeedPath } from '../../workflows/method/random.ts';
import { scopeMatchesState } from '../../workflows/method/scope.ts';
import type { StateSeen } from '../../workflows/method/seen-states.ts';
import type { Question } from '../../workflows/method/types.ts';
import { readBasis } from '../basis.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { mostUsdOf, paidCall } from '../paid-call.ts';
import type { RunConfig } from '../run-config.ts';
import { runConfigSchema } from '../run-config.ts';
import { statesOf } from '../trajectory.ts';
import type { LlmDependencies } from './dependencies.ts';

interface Input {
  readonly runId: string;
  readonly rolloutId: string;
}

/** Who is asked about which rollout. */
interface Interview {
  readonly store: BankStore;
  readonly selfVerifier: SelfVerifier;
  readonly config: RunConfig;
  readonly rollout: NewRollout;
}

/** Which questions are worth an answer at a URL state. */
type Asked = (state: StateSeen) => readonly Question[];

/** Self-verifier over every URL state of one rollout (METHOD 1.4); its answers replace earlier ones as a whole. */
export function answerQuestions(dependencies: LlmDependencies, input: Input) {
  return withHeartbeat(async (signal) => {
    const { store, selfVerifierFor } = dependencies;
    const run = await store.getRun(input.runId);
    const config = runConfigSchema.parse(run.config);
    const rollout = await store.getRollout(input.rolloutId);
    const selfVerifier = selfVerifierFor(config.models.selfVerifier);
    const interview: Interview = { store, selfVerifier, config, rollout: rollout.rollout };
    const task = await store.getTask(rollout.rollout.taskId);
    const states = await statesOf(store.blobs, task, rollout);
    const asked = await questionsToAsk(store, config, rollout);

    const answers: StoredAnswer[] = [];
    const ask = askingIn(interview, signal);
    for (const at of states) {
      const given = await answerAt(at, asked(at), ask);
      answers.push(...given.map((answer) => ({ ...answer, ...at.state, rolloutId: input.rolloutId })));
    }
    await store.saveAnswers(input.rolloutId, answers);
    const invalid = answers.filter(({ pYes }) => pYes === null).length;
    return { states: states.length, answers: answers.length - invalid, invalid };
  });
}

/** Training asks every question in scope that is not retired; selection only what is certified at that state. */
async function questionsToAsk(
  store: BankStore,
  config: RunConfig,
  { rollout }: StoredRollout,
): Promise<Asked> {
  const { seed, hyperparameters } = config;
  const atMost = hyperparameters.maxQuestionsPerState ?? Number.POSITIVE_INFINITY;
  if (config.kind === 'train') {
    const { runId, shard, step } = await store.getGroup(rollout.ownerId);
    const { questions } = await store.snapshotAt({ runId, shard, step: step - 1 });
    const open = questions.filter(({ status }) => status !== 'retired');
    return (at) => draw(inScope(open, at), atMost, [seed, shard, step, at.state.pathKey, 'questions']);
  }
  if (config.bankDigest === null) return () => [];
  const bank = await readBasis(store.loadBank(config.bankDigest));
  const certificates = indexCertificates(bank.certificates);
  const weightAt = ({ id, version }: Question, { state }: StateSeen): number => {
    const byKey = certificates.get(questionKey(id, version));
    const found = byKey === undefined ? null : lookUp(byKey, state, hyperparameters);
    return Math.abs(found?.certificate.weight ?? 0);
  };
  // What weighs most is asked first, so that a limit costs the least evidence.
  return (at) =>
    inScope(bank.questions, at)
      .filter((question) => weightAt(question, at) > 0)
      .sort((left, right) => weightAt(right, at) - weightAt(left, at))
      .slice(0, atMost);
}

const inScope = (questions: readonly Question[], { seen }: StateSeen): Question[] =>
  questions.filter(({ scope }) => scopeMatchesState(scope, seen.pages));

/**
 * The same questions for all rollouts of a group, whose answers are compared with each other, and others for the next
 * group, so that a limit keeps no question from ever being certified.
 */
function draw(questions: readonly Question[], atMost: number, seed: SeedPath): readonly Question[] {
  return questions.length <= atMost ? questions : randomGenerator(seed).shuffle(questions).slice(0, atMost);
}

type AskModel = (request: AnswerRequest) => Promise<readonly { readonly pYes: number | null }[]>;

/** Code answers assertions, for free and identically everywhere; the model gets the rest. */
async function answerAt(
  { seen }: StateSeen,
  questions: readonly Question[],
  ask: AskModel,
): Promise<readonly Answer[]> {
  const open = questions.filter(({ assertion }) => assertion === undefined);
  const byModel = await ask({ seen, questions: open });
  return questions.map((question): Answer => {
    const ids = { questionId: question.id, version: question.version };
    if (question.assertion === undefined) {
      return { ...ids, source: 'model', pYes: byModel[open.indexOf(question)]?.pYes ?? null };
    }
    return { ...ids, source: 'assertion', pYes: evaluateAssertion(question.assertion, seen) ? 1 : 0 };
  });
}

/** Of one journalled call: so many answers are the most that a retry pays for again. */
const QUESTIONS_PER_CALL = 16;

/** Call after call, so that the first one of a state leaves its page in the server's cache for the others. */
function askingIn(interview: Interview, signal: AbortSignal): AskModel {
  let calls = 0;
  return async ({ seen, questions }) => {
    const answers = [];
    for (let from = 0; from < questions.length; from += QUESTIONS_PER_CALL) {
      const request = { seen, questions: questions.slice(from, from + QUESTIONS_PER_CALL) };
      answers.push(...(await askModel(interview, calls, request, signal)));
      calls += 1;
    }
    return answers;
  };
}

async function askModel(
  { store, selfVerifier, config, rollout }: Interview,
  ordinal: number,
  request: AnswerRequest,
  signal: AbortSignal,
) {
  const { id, runId, ownerId, taskId } = rollout;
  const reply = await paidCall(store, {
    key: { runId, purpose: 'self-verifier', owner: id, ordinal },
    task: [ownerId, taskId],
    ceilings: config.ceilings,
    model: selfVerifier.identity,
    request,
    ...{ mostUsd: mostUsdOf(selfVerifier, request), signal },
    ask: async () => {
      const { answers, cost } = await selfVerifier.answer(request, signal);
      return { reply: answers, cost };
    },
  });
  return answersSchema(request.questions.length).parse(reply);
}

const answersSchema = (count: number) =>
  z.array(z.object({ pYes: z.number().min(0).max(1).nullable() })).length(count);

import { z } from 'zod';
import type { BankStore, StoredAnswer, StoredRollout } from '../../bank-store/contract.ts';
import type { Answer } from '../../models/contract.ts';
import { evaluateAssertion } from '../../workflows/method/assertion.ts';
import { indexCertificates, lookUp, questionKey } from '../../workflows/method/lookup.ts';
import { scopeMatchesState } from '../../workflows/method/scope.ts';
import type { StateSeen } from '../../workflows/method/seen-states.ts';
import type { Question } from '../../workflows/method/types.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { RunConfig } from '../run-config.ts';
import { runConfigSchema } from '../run-config.ts';
import { statesOf } from '../trajectory.ts';
import type { Bank } from '../verifier-scores.ts';
import type { LlmDependencies } from './dependencies.ts';

interface Input {
  readonly runId: string;
  readonly rolloutId: string;
}

/** Which questions are worth an answer at a URL state. */
type Asked = (state: StateSeen) => readonly Question[];

/** Self-verifier over every URL state of one rollout (METHOD 1.4); its answers replace earlier ones as a whole. */
export function answerQuestions(dependencies: LlmDependencies, input: Input) {
  return withHeartbeat(async (signal) => {
    const { store } = dependencies;
    const run = await store.getRun(input.runId);
    const config = runConfigSchema.parse(run.config);
    const rollout = await store.getRollout(input.rolloutId);
    const task = await store.getTask(rollout.rollout.taskId);
    const states = await statesOf(store.blobs, task, rollout);
    const asked = await questionsToAsk(store, config, rollout);

    const answers: StoredAnswer[] = [];
    for (const [ordinal, at] of states.entries()) {
      const given = await answerAt(dependencies, input, ordinal, at, asked(at), signal);
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
  const { maxQuestionsPerState } = config.hyperparameters;
  const inScope = (bank: Bank, at: StateSeen) =>
    bank.questions.filter((question) => scopeMatchesState(question.scope, at.seen.pages));
  if (config.kind === 'train') {
    const { runId, shard, step } = await store.getGroup(rollout.ownerId);
    const bank = await store.snapshotAt({ runId, shard, step: step - 1 });
    const open = { ...bank, questions: bank.questions.filter(({ status }) => status !== 'retired') };
    return (at) => inScope(open, at).slice(0, maxQuestionsPerState ?? undefined);
  }
  if (config.bankDigest === null) return () => [];
  const bank = await store.loadBank(config.bankDigest);
  const certificates = indexCertificates(bank.certificates);
  return (at) =>
    inScope(bank, at).filter(({ id, version }) => {
      const byKey = certificates.get(questionKey(id, version));
      return byKey !== undefined && lookUp(byKey, at.state, config.hyperparameters) !== null;
    });
}

/** Code answers assertions, for free and identically everywhere; the model gets the rest in one journalled call. */
async function answerAt(
  { store, selfVerifier }: LlmDependencies,
  { runId, rolloutId }: Input,
  ordinal: number,
  { seen }: StateSeen,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const open = questions.filter(({ assertion }) => assertion === undefined);
  const byModel =
    open.length === 0
      ? []
      : answersSchema(open.length).parse(
          await store.callOnce(
            { runId, purpose: 'self-verifier', owner: rolloutId, ordinal },
            { model: selfVerifier.identity, seen, questions: open },
            async () => {
              const { answers, cost } = await selfVerifier.answer({ seen, questions: open }, signal);
              return { reply: answers, cost, model: selfVerifier.identity.model };
            },
          ),
        );
  return questions.map((question): Answer => {
    const ids = { questionId: question.id, version: question.version };
    if (question.assertion === undefined) {
      return { ...ids, source: 'model', pYes: byModel[open.indexOf(question)]?.pYes ?? null };
    }
    return { ...ids, source: 'assertion', pYes: evaluateAssertion(question.assertion, seen) ? 1 : 0 };
  });
}

const answersSchema = (count: number) =>
  z.array(z.object({ pYes: z.number().min(0).max(1).nullable() })).length(count);

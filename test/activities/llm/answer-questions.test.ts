import { beforeAll, describe, expect, it } from 'vitest';
import { createLlmActivities } from '../../../activities/llm/index.ts';
import type { SelfVerifier } from '../../../models/contract.ts';
import { createAssertionVerifier } from '../../../models/embedded/index.ts';
import type { Question } from '../../../workflows/method/types.ts';
import { certificate, createStorePlace, question, type Store } from '../../bank-store/fixtures.ts';
import { freezeBank, playEvaluation } from '../bank/evaluation-scene.ts';
import { inActivity } from '../bank/in-activity.ts';
import { inForce, playGroup, range, startTraining } from '../bank/training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

type Request = Parameters<SelfVerifier['answer']>[0];

/** Answers with what `pYes` makes of each question; null: an invalid answer. */
function verifying(pYes: (question: Question, request: Request) => unknown) {
  const asked: Request[] = [];
  const verifier: SelfVerifier = {
    identity: { provider: 'test', model: 'scripted-verifier', revision: '1' },
    answer: async (request) => {
      asked.push(request);
      const answers = request.questions.map((about) => ({
        ...{ questionId: about.id, version: about.version, source: 'model' as const },
        pYes: JSON.parse(JSON.stringify(pYes(about, request))),
      }));
      return { answers, cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
    },
  };
  return { asked, answer: answerWith(verifier) };
}

function answerWith(verifier: SelfVerifier) {
  const activities = createLlmActivities({
    store,
    selfVerifierFor: () => verifier,
    selectorFor: () => {
      throw new Error('nobody votes here');
    },
  });
  return (runId: string, rolloutId: string) =>
    inActivity(() => activities.answerQuestions({ runId, rolloutId }));
}

const list = 'http://a.example/list';
const form = 'http://a.example/form';
const elsewhere = 'http://b.example/';

const stored = async (rolloutId: string) =>
  (await store.answersOf([rolloutId])).map(({ questionId, pathKey, pYes }) => [questionId, pathKey, pYes]);

describe('the questions of a training rollout', () => {
  it('are those of the snapshot before it that are in scope and not retired, at every URL state', async () => {
    const training = await startTraining(store, 'answer-scope', {
      questions: [
        question('anywhere'),
        question('on-b', { scope: 'b.example' }),
        question('on-form', { scope: 'a.example/form' }),
        question('neutral', { polarity: 0, status: 'neutral', scope: 'b.example/*' }),
        question('retired', { status: 'retired' }),
      ],
    });
    await store.saveQuestions(training.at(0), [question('later')]);
    const [id = ''] = await playGroup(training, 0, [{ urls: [list, form, list, elsewhere] }]);
    const { answer } = verifying(() => 0.75);
    expect(await answer(training.runId, id)).toEqual({ states: 3, answers: 6, invalid: 0 });
    expect(await stored(id)).toEqual([
      ['anywhere', 'a.example/list', 0.75],
      ['anywhere', 'a.example/form', 0.75],
      ['on-form', 'a.example/form', 0.75],
      ['anywhere', 'b.example/', 0.75],
      ['neutral', 'b.example/', 0.75],
      ['on-b', 'b.example/', 0.75],
    ]);
  });

  it('see nothing that came after the state that they are asked at', async () => {
    const training = await startTraining(store, 'answer-later', { questions: [question('q')] });
    const [id = ''] = await playGroup(training, 0, [
      { urls: [list, form, list, form, form], answer: 'finished' },
    ]);
    const { asked, answer } = verifying(() => 1);
    await answer(training.runId, id);
    expect(
      asked.map(({ seen }) => [seen.pages[0]?.pathKey, seen.steps.length, seen.text, seen.answer]),
    ).toEqual([
      ['a.example/list', 3, 'page 2', null],
      ['a.example/form', 4, 'page 4', 'finished'],
    ]);
  });

  it('are answered once for money: a repeat replaces all answers by the same ones', async () => {
    const training = await startTraining(store, 'answer-repeat', { questions: [question('q')] });
    const [id = ''] = await playGroup(training, 0, [
      { urls: [list, form], answers: [{ url: elsewhere, qid: 'stray', pYes: 1 }] },
    ]);
    expect(await stored(id)).toEqual([['stray', 'b.example/', 1]]);
    const { asked, answer } = verifying(() => 0.5 + asked.length / 100);
    const results = await Promise.all(range(3).map(() => answer(training.runId, id)));
    results.push(await answer(training.runId, id));
    for (const result of results) expect(result).toEqual({ states: 2, answers: 2, invalid: 0 });
    expect(asked).toHaveLength(2);
    const answers = await stored(id);
    expect(answers.map(([qid]) => qid)).toEqual(['q', 'q']);
    await answer(training.runId, id);
    expect(await stored(id)).toEqual(answers);
  });

  it('are answered by code where they carry an assertion, and by the model where not', async () => {
    const assertion = { version: 1, root: { op: 'pathKeyIs', key: 'a.example/form' } } as const;
    const training = await startTraining(store, 'answer-assertion', {
      questions: [question('by-code', { assertion }), question('by-model')],
    });
    const [id = '', alone = ''] = await playGroup(training, 0, [
      { urls: [list, form] },
      { urls: [list, form] },
    ]);
    const { asked, answer } = verifying(() => null);
    expect(await answer(training.runId, id)).toEqual({ states: 2, answers: 2, invalid: 2 });
    expect(asked.flatMap(({ questions }) => questions.map(({ id: qid }) => qid))).toEqual([
      'by-model',
      'by-model',
    ]);
    expect(await stored(id)).toEqual([
      ['by-code', 'a.example/list', 0],
      ['by-model', 'a.example/list', null],
      ['by-code', 'a.example/form', 1],
      ['by-model', 'a.example/form', null],
    ]);
    // The embedded verifier, which has no model, agrees in everything.
    await answerWith(createAssertionVerifier())(training.runId, alone);
    expect(await stored(alone)).toEqual(await stored(id));
  });

  it('are limited to a draw that is the same for the whole group and leaves none out for ever', async () => {
    const questions = range(6).map((index) => question(`q${index}`));
    const training = await startTraining(store, 'answer-limit', {
      questions,
      hyperparameters: { maxQuestionsPerState: 2 },
      steps: 20,
    });
    const everAsked = new Set<string>();
    for (const step of range(8)) {
      const ids = await playGroup(training, step, [
        { urls: [list, list] },
        { urls: [form, list] },
        { urls: [list] },
      ]);
      const { answer } = verifying(() => 1);
      for (const id of ids) await answer(training.runId, id);
      const atList = await Promise.all(
        ids.map(async (id) =>
          (await stored(id)).filter(([, key]) => key === 'a.example/list').map(([qid]) => qid),
        ),
      );
      expect(atList[0]).toHaveLength(2);
      expect(atList[1]).toEqual(atList[0]);
      expect(atList[2]).toEqual(atList[0]);
      for (const qid of atList[0] ?? []) everAsked.add(String(qid));
    }
    expect(everAsked.size).toBe(6);
  });

  it('are asked sixteen at a time, so that a call that fails costs no more than its own again', async () => {
    const questions = range(40).map((index) => question(`q${index}`));
    const training = await startTraining(store, 'answer-chunks', { questions });
    const [id = ''] = await playGroup(training, 0, [{ urls: [list] }]);
    let isDown = true;
    const { asked, answer } = verifying(({ id: qid }) => {
      if (qid === 'q39' && isDown) throw new Error('busy');
      return 1;
    });
    await expect(answer(training.runId, id)).rejects.toThrow('busy');
    isDown = false;
    expect(await answer(training.runId, id)).toEqual({ states: 1, answers: 40, invalid: 0 });
    expect(asked.map((request) => request.questions.length)).toEqual([16, 16, 8, 8]);
    expect(new Set((await stored(id)).map(([qid]) => qid)).size).toBe(40);
  });

  it.each([
    ['above 1', () => 1.5],
    ['that is no number', () => 'yes'],
  ])('are not answered at all by a reply %s', async (name, pYes) => {
    const training = await startTraining(store, `answer-bad-${name}`, { questions: [question('q')] });
    const [id = ''] = await playGroup(training, 0, [{ urls: [list] }]);
    await expect(verifying(pYes).answer(training.runId, id)).rejects.toThrow();
    expect(await stored(id)).toEqual([]);
  });
});

describe('the questions of an evaluation rollout', () => {
  const atForm = { tier: 'path', key: 'p:a.example/form' } as const;
  const bank = {
    questions: [
      question('everywhere'),
      question('form-only'),
      question('refused'),
      question('blocked'),
      question('out-of-scope', { scope: 'c.example' }),
      question('negative', { polarity: -1 }),
    ],
    certificates: [
      inForce('everywhere', 0.2),
      inForce('form-only', 0.4, atForm),
      certificate('refused', 60),
      inForce('blocked', 0.9),
      { ...certificate('blocked', 60), tier: 'host' as const, key: 'h:a.example', vetoed: true },
      inForce('out-of-scope', 0.9),
      inForce('negative', -0.3),
    ],
  };
  const member = { urls: [list, form, elsewhere] };

  it('are those certified at that very state', async () => {
    await startTraining(store, 'answer-frozen');
    const bankDigest = await freezeBank(store, 'answer-frozen', bank);
    const [id = ''] = await playEvaluation(store, 'answer-evaluation', { bankDigest, members: [member] });
    const { answer } = verifying(() => 1);
    await answer('answer-evaluation', id);
    expect((await stored(id)).map(([qid, key]) => [key, qid])).toEqual([
      ['a.example/list', 'negative'],
      ['a.example/list', 'everywhere'],
      ['a.example/form', 'form-only'],
      ['a.example/form', 'negative'],
      ['a.example/form', 'everywhere'],
      ['b.example/', 'blocked'],
      ['b.example/', 'negative'],
      ['b.example/', 'everywhere'],
    ]);
  });

  it('are those that weigh most where their number is limited', async () => {
    await startTraining(store, 'answer-frozen-limit');
    const bankDigest = await freezeBank(store, 'answer-frozen-limit', bank);
    const [id = ''] = await playEvaluation(store, 'answer-evaluation-limit', {
      ...{ bankDigest, members: [member] },
      hyperparameters: { maxQuestionsPerState: 1 },
    });
    const { answer } = verifying(() => 1);
    expect(await answer('answer-evaluation-limit', id)).toEqual({ states: 3, answers: 3, invalid: 0 });
    expect((await stored(id)).map(([qid]) => qid)).toEqual(['negative', 'form-only', 'blocked']);
  });

  it('wait until a bank whose file is gone is back', async () => {
    const [id = ''] = await playEvaluation(store, 'answer-lost-bank', {
      ...{ bankDigest: 'a'.repeat(64), members: [member] },
    });
    await expect(verifying(() => 1).answer('answer-lost-bank', id)).rejects.toMatchObject({
      ...{ type: 'BasisLost', nonRetryable: true },
      message: expect.stringContaining('resume'),
    });
  });

  it('are none where there is no bank', async () => {
    const [id = ''] = await playEvaluation(store, 'answer-no-bank', { members: [member] });
    const { asked, answer } = verifying(() => 1);
    expect(await answer('answer-no-bank', id)).toEqual({ states: 3, answers: 0, invalid: 0 });
    expect(asked).toEqual([]);
  });
});

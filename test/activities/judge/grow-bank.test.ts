import { beforeAll, describe, expect, it } from 'vitest';
import { repairBank } from '../../../activities/bank/repair-bank.ts';
import { createJudgeActivities } from '../../../activities/judge/index.ts';
import { questionId } from '../../../activities/question-id.ts';
import type { ProposeRequest, Proposer, QuestionDraft } from '../../../models/contract.ts';
import { createAssertionMiner } from '../../../models/embedded/index.ts';
import { createStorePlace, question, type Store, tracker } from '../../bank-store/fixtures.ts';
import { inActivity } from '../bank/in-activity.ts';
import {
  giveCertificates,
  inForce,
  infra,
  type Member,
  playGroup,
  range,
  startTraining,
  type Training,
} from '../bank/training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const page = 'http://a.example/list';

const scored = (score: number, pYes?: number, url = page): Member => ({
  ...{ urls: [url, url], score },
  answers: pYes === undefined ? [] : [{ url, qid: 'known', pYes }],
});

const draft = (text: string, change: Partial<QuestionDraft> = {}): QuestionDraft => ({
  ...{ text, scope: '*', polarity: 1, assertion: null, groupId: 'the group' },
  ...change,
});

function proposing(drafts: (request: ProposeRequest) => unknown) {
  const asked: ProposeRequest[] = [];
  const proposer: Proposer = {
    identity: { provider: 'test', model: 'scripted-proposer', revision: '1' },
    propose: async (request) => {
      asked.push(request);
      const json: QuestionDraft[] = JSON.parse(JSON.stringify(drafts(request)));
      return { drafts: json, cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
    },
  };
  return { asked, grow: growWith(proposer) };
}

function growWith(proposer: Proposer) {
  const { growBank } = createJudgeActivities({
    store,
    judgeFor: () => {
      throw new Error('nobody judges here');
    },
    proposerFor: () => proposer,
  });
  return (training: Training, step: number) => inActivity(() => growBank(training.at(step)));
}

const texts = async (training: Training, step: number) =>
  (await store.snapshotAt(training.at(step))).questions.map(({ text }) => text).sort();

describe('what the bank fails to separate', () => {
  it('is measured and shown as METHOD 5.1 says', async () => {
    const training = await startTraining(store, 'grow-pairs', { questions: [question('known')] });
    await giveCertificates(store, training.at(0), [inForce('known', 0.5)]);
    // Separated: evidence 0.5 against -0.5.
    await playGroup(training, 1, [scored(1, 1), scored(0, 0)]);
    // Not separated at all; its widest pair is the second against the first. The one in between is no pair of the third.
    const rolloutIds = await playGroup(training, 2, [scored(0.1), scored(0.7), scored(0.6)]);
    // Nobody judged.
    await playGroup(training, 3, [{ urls: [page, page] }, { urls: [page, page], outcome: infra }]);
    await playGroup(training, 0, [{ urls: [page, page] }]);
    const { asked, grow } = proposing(() => []);
    const { deficiency } = await grow(training, 3);
    expect(deficiency).toBeCloseTo((0.6 + 0.5) / (1 + 0.6 + 0.5), 12);
    expect(asked).toHaveLength(1);
    const [pair, ...others] = asked[0]?.pairs ?? [];
    expect(others).toEqual([]);
    expect(pair).toMatchObject({
      groupId: training.groupId(2),
      better: { rolloutId: rolloutIds[1], judgeScore: 0.7, rationale: 'rationale of 1' },
      worse: { rolloutId: rolloutIds[0], judgeScore: 0.1, rationale: 'rationale of 0' },
    });
    expect(pair?.better.trace).toHaveLength(1);
    expect(pair?.better.states.map(({ text }) => text)).toEqual(['page 1']);
  });

  it('counts the groups of the last M training steps only, worst first', async () => {
    const training = await startTraining(store, 'grow-window', {
      hyperparameters: { growEverySteps: 2, growGroups: 1 },
    });
    await playGroup(training, 0, [scored(1), scored(0)]);
    await playGroup(training, 1, [scored(0.3), scored(0)]);
    await playGroup(training, 2, [scored(0.8), scored(0)]);
    const { asked, grow } = proposing(() => []);
    await grow(training, 2);
    expect(asked[0]?.pairs.map(({ groupId }) => groupId)).toEqual([training.groupId(2)]);
  });

  it('names the hosts with traffic on which no question is certified at host or path', async () => {
    const training = await startTraining(store, 'grow-hosts', { questions: [question('known')] });
    await giveCertificates(store, training.at(0), [
      inForce('known', 0.5),
      inForce('known', 0.5, { tier: 'host', key: 'h:a.example' }),
      inForce('known', 0.5, { tier: 'path', key: 'p:b.example/list' }),
    ]);
    await playGroup(training, 0, [{ urls: [page] }]);
    await playGroup(training, 1, [
      scored(1, undefined, 'http://a.example/x'),
      scored(0.5, undefined, 'http://b.example/list'),
      scored(0, undefined, 'http://c.example/list'),
    ]);
    const { asked, grow } = proposing(() => []);
    await grow(training, 1);
    expect(asked[0]?.uncoveredHosts).toEqual(['c.example']);
  });

  it('asks nobody when the judge separates nothing', async () => {
    const training = await startTraining(store, 'grow-nothing');
    await playGroup(training, 0, [scored(0.5), scored(0.5)]);
    const { asked, grow } = proposing(() => [draft('Is it done?')]);
    expect(await grow(training, 0)).toEqual({ proposed: 0, accepted: 0, deficiency: 0 });
    expect(asked).toEqual([]);
  });
});

describe('new questions', () => {
  it('enter the snapshot of the next step uncertified, with the group that they came from', async () => {
    const training = await startTraining(store, 'grow-entry', { questions: [question('known')] });
    await playGroup(training, 0, [scored(1), scored(0)]);
    const { grow } = proposing(({ pairs }) => [
      draft('Was the list filtered?', { groupId: pairs[0]?.groupId ?? '', scope: 'a.example' }),
    ]);
    expect(await grow(training, 0)).toEqual({ proposed: 1, accepted: 1, deficiency: 1 });
    expect(await texts(training, -1)).toEqual(['Is known so?']);
    const { questions, certificates } = await store.snapshotAt(training.at(0));
    expect(questions.find(({ text }) => text === 'Was the list filtered?')).toEqual({
      id: questionId('Was the list filtered?', 'a.example', null),
      ...{ version: 1, text: 'Was the list filtered?', scope: 'a.example', polarity: 1, status: 'candidate' },
      provenance: {
        ...{ source: 'cegar', step: 0, shard: '0' },
        ...{ rationaleId: training.groupId(0), groupIds: [training.groupId(0)] },
      },
    });
    expect(certificates).toEqual([]);
  });

  it('repeat no question of the bank and none of each other, and are never more than asked for', async () => {
    const training = await startTraining(store, 'grow-duplicates', {
      questions: [
        question('known', { text: 'Is the cart empty?' }),
        question('gone', { text: 'Is it Monday?', status: 'retired' }),
      ],
      hyperparameters: { growMinQuestions: 1, growMaxQuestions: 2 },
    });
    await playGroup(training, 0, [scored(1), scored(0)]);
    const { grow } = proposing(() => [
      draft('is the CART empty'),
      draft('Is it Monday', { polarity: -1 }),
      draft('Was the letter sent?'),
      draft('Was the letter sent'),
      draft('Did the page confirm it?'),
      draft('Was anything deleted by mistake?', { polarity: -1 }),
    ]);
    expect(await grow(training, 0)).toMatchObject({ proposed: 6, accepted: 2 });
    expect(await texts(training, 0)).toEqual([
      'Did the page confirm it?',
      'Is it Monday?',
      'Is the cart empty?',
      'Was the letter sent?',
    ]);
  });

  it('are proposed once: a repeat pays for nothing and adds nothing', async () => {
    const training = await startTraining(store, 'grow-repeat', { questions: [question('known')] });
    await playGroup(training, 0, [scored(1), scored(0)]);
    // Would find another question each time it is asked.
    const { asked, grow } = proposing(() => [draft(`Is it ${asked.length}?`), draft('Is it done?')]);
    const first = await grow(training, 0);
    const after = await store.snapshotAt(training.at(0));
    expect(first.accepted).toBe(2);
    expect(await Promise.all(range(2).map(() => grow(training, 0)))).toEqual([first, first]);
    expect(await store.snapshotAt(training.at(0))).toEqual(after);
    expect(asked).toHaveLength(1);
  });

  it('see what was repaired in the same growth', async () => {
    const training = await startTraining(store, 'grow-after-repair', {
      questions: [question('known', { polarity: -1 })],
    });
    await playGroup(training, 0, [scored(1), scored(0)]);
    await store.certifyStep(training.at(0), () => ({
      trackers: [tracker('known', 60, { polarity: -1, logWp: [9, 9, 9], logWm: [-9, -9, -9] })],
      certificates: [],
    }));
    expect(await repairBank(store, training.at(0))).toEqual({ repaired: 1, retired: 0 });
    const { asked, grow } = proposing(() => [draft('Is it done?')]);
    await grow(training, 0);
    expect(asked[0]?.existing.map(({ version, polarity }) => [version, polarity])).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });

  it.each([
    ['no text', draft('')],
    ['a polarity that does not exist', { ...draft('Is it?'), polarity: 2 }],
    [
      'an unknown assertion',
      { ...draft('Is it?'), assertion: { version: 1, root: { op: 'evaluate', code: '1' } } },
    ],
    ['no draft at all', 'Sorry.'],
  ])('with %s are dropped, and the others enter the bank', async (name, malformed) => {
    const training = await startTraining(store, `grow-malformed-${name}`);
    await playGroup(training, 0, [scored(1), scored(0)]);
    const { grow } = proposing(() => [draft('Is it done?'), malformed]);
    expect(await grow(training, 0)).toMatchObject({ accepted: 1 });
    expect(await texts(training, 0)).toEqual(['Is it done?']);
  });

  it('come from the embedded miner where two trajectories differ', async () => {
    const training = await startTraining(store, 'grow-miner');
    await playGroup(training, 0, [
      { urls: [page, `${page}/done`, `${page}/done`], score: 1, answer: 'yes' },
      { urls: [page, page], score: 0 },
    ]);
    const grow = growWith(createAssertionMiner());
    const growth = await grow(training, 0);
    expect(growth.accepted).toBeGreaterThan(0);
    const { questions } = await store.snapshotAt(training.at(0));
    expect(questions).toHaveLength(growth.accepted);
    for (const { assertion, provenance } of questions) {
      expect(assertion?.version).toBe(1);
      expect(provenance.groupIds).toEqual([training.groupId(0)]);
    }
    expect(await grow(training, 0)).toEqual(growth);
  });
});

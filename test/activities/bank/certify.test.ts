import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { certify } from '../../../activities/bank/certify.ts';
import { readBank } from '../../../activities/bank-snapshot.ts';
import type { Tracker } from '../../../workflows/method/types.ts';
import { createStorePlace, question, type Store, tracker } from '../../bank-store/fixtures.ts';
import { infra, type Member, playGroup, range, startTraining, type Training } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const here = 'http://a.example/list';
const there = 'http://b.example/other';

const cell = async ({ runId }: Training, qid: string, key = '*'): Promise<Tracker | undefined> =>
  (await store.trackers(runId, 0)).find((tracked) => tracked.qid === qid && tracked.key === key);

/** One YES that scores 1 and one NO that scores 0: all the evidence that a group of two can give. */
const telling = (qid: string, version = 1): readonly Member[] => [
  { urls: [here], score: 1, answers: [{ url: here, qid, version, pYes: 1 }] },
  { urls: [here], score: 0, answers: [{ url: here, qid, version, pYes: 0 }] },
];

describe('certifying a training step', () => {
  it('counts a rollout once for each tracker, with the mean of its valid answers there', async () => {
    const pYes = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null });
    const member = fc.record({
      score: fc.double({ min: 0, max: 1, noNaN: true }),
      answered: fc.uniqueArray(fc.record({ url: fc.constantFrom(here, there, `${here}/1`), pYes }), {
        selector: ({ url }) => url,
      }),
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 3 }), async (group) => {
        runs += 1;
        const training = await startTraining(store, `certify-mean-${runs}`, { questions: [question('q')] });
        await playGroup(
          training,
          0,
          group.map(({ score, answered }) => ({
            ...{ urls: [here], score },
            answers: answered.map((answer) => ({ ...answer, qid: 'q' })),
          })),
        );
        await certify(store, training.at(0));
        for (const [key, pages] of [
          ['*', [here, there, `${here}/1`]],
          ['h:a.example', [here, `${here}/1`]],
          ['p:b.example/other', [there]],
        ] as const) {
          const means = group.flatMap(({ score, answered }) => {
            const valid = answered.flatMap((answer) =>
              pages.some((page) => page === answer.url) && answer.pYes !== null ? [answer.pYes] : [],
            );
            const sum = valid.reduce((total, value) => total + value, 0);
            return valid.length === 0 ? [] : [{ score, isYes: sum / valid.length >= 0.5 }];
          });
          const tracked = await cell(training, 'q', key);
          expect(tracked?.n ?? 0).toBe(means.length);
          expect(tracked?.n1 ?? 0).toBe(means.filter(({ isYes }) => isYes).length);
          const scores = means.filter(({ isYes }) => isYes).reduce((total, { score }) => total + score, 0);
          expect(tracked?.S1 ?? 0).toBeCloseTo(scores, 12);
        }
      }),
      { numRuns: 12 },
    );
  });

  it('counts nothing of a rollout without a verdict, a judgement, or a valid answer', async () => {
    const training = await startTraining(store, 'certify-excluded', {
      questions: [question('q')],
      hyperparameters: { groupSize: 4 },
    });
    const yes = [{ url: here, qid: 'q', pYes: 1 }];
    await playGroup(training, 0, [
      { urls: [here], score: 0.5, answers: yes },
      { urls: [here], score: 0.5, outcome: infra, answers: yes },
      { urls: [here], answers: yes },
      { urls: [here], score: 0.5, answers: [{ url: here, qid: 'q', pYes: null }] },
    ]);
    // One observation for each of the three tiers.
    expect(await certify(store, training.at(0))).toEqual({ observations: 3, certified: 0 });
    expect((await cell(training, 'q'))?.n).toBe(1);
  });

  it('never counts a group for the questions that were mined from it', async () => {
    const training = await startTraining(store, 'certify-mined', { hyperparameters: { groupSize: 2 } });
    const groupIds = [training.groupId(0)];
    await store.saveQuestions(training.at(-1), [
      question('mined', { provenance: { source: 'cegar', groupIds } }),
      question('other', { provenance: { source: 'cegar', groupIds: [training.groupId(7)] } }),
    ]);
    for (const step of [0, 1]) {
      await playGroup(
        training,
        step,
        [1, 0].map((pYes) => ({
          ...{ urls: [here], score: pYes },
          answers: ['mined', 'other'].map((qid) => ({ url: here, qid, pYes })),
        })),
      );
      await certify(store, training.at(step));
    }
    expect((await cell(training, 'mined'))?.groups).toBe(1);
    expect((await cell(training, 'other'))?.groups).toBe(2);
  });

  it('ignores answers to questions that entered later', async () => {
    const training = await startTraining(store, 'certify-later');
    await playGroup(training, 0, telling('late'));
    await store.saveQuestions(training.at(0), [question('late')]);
    expect(await certify(store, training.at(0))).toEqual({ observations: 0, certified: 0 });
    expect(await store.trackers(training.runId, 0)).toEqual([]);
  });

  it('counts a group once, however often and however concurrently it is certified', async () => {
    const training = await startTraining(store, 'certify-repeat', { questions: [question('q')] });
    await playGroup(training, 0, telling('q'));
    const results = await Promise.all(range(5).map(() => certify(store, training.at(0))));
    results.push(await certify(store, training.at(0)));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(await cell(training, 'q')).toMatchObject({ groups: 1, n: 2 });
  });

  it('leaves the snapshot before it as it was', async () => {
    const training = await startTraining(store, 'certify-before', {
      questions: [question('q')],
      hyperparameters: { certifier: 'naive', nMin: 2 },
    });
    await playGroup(training, 0, telling('q'));
    const before = await readBank(store, training.at(-1));
    expect((await certify(store, training.at(0))).certified).toBe(3);
    expect(await readBank(store, training.at(-1))).toEqual(before);
    expect(before.certificates).toEqual([]);
  });
});

describe('certificates of questions that may no longer speak', () => {
  it.each([
    ['retired', { status: 'retired' }],
    ['neutral', { status: 'neutral', polarity: 0 }],
  ] as const)('are void as soon as the question is %s', async (name, change) => {
    const training = await startTraining(store, `certify-void-${name}`, {
      questions: [question('q'), question('r')],
      hyperparameters: { certifier: 'naive', nMin: 2 },
    });
    await playGroup(
      training,
      0,
      [1, 0].map((pYes) => ({
        ...{ urls: [here], score: pYes },
        answers: ['q', 'r'].map((qid) => ({ url: here, qid, pYes })),
      })),
    );
    expect((await certify(store, training.at(0))).certified).toBe(6);
    await store.saveQuestions(training.at(0), [question('q', change)]);
    const { certificates } = await readBank(store, training.at(0));
    expect(certificates.map(({ qid }) => qid)).toEqual(['r', 'r', 'r']);
    // The next step counts only what is in force.
    await playGroup(training, 1, telling('r'));
    expect((await certify(store, training.at(1))).certified).toBe(3);
  });

  it('stay neutral under the sign that a question lost, and keep their evidence', async () => {
    const training = await startTraining(store, 'certify-neutral', { questions: [question('q')] });
    await playGroup(training, 0, telling('q'));
    await certify(store, training.at(0));
    await store.saveQuestions(training.at(0), [question('q', { polarity: 0, status: 'neutral' })]);
    await playGroup(training, 1, telling('q'));
    await certify(store, training.at(1));
    const tracked = await cell(training, 'q');
    expect(tracked).toMatchObject({ polarity: 0, groups: 2, informative: 2 });
    expect(tracked?.logWp[2]).toBeCloseTo(2 * Math.log(1.9), 12);
  });
});

describe('the strict certifier', () => {
  const strict = { certifier: 'strict', nMin: 10, groupSize: 2 } as const;
  /** log E of one bet that won so much. */
  const rich = (qid: string, logE: number, change: Partial<Tracker> = {}) =>
    tracker(qid, 60, {
      ...{ logWp: [logE, logE, logE], logWm: [-9, -9, -9], n1: 30, n0: 30, S1: 30, S0: 0 },
      ...{ ewN1: 30, ewN0: 30, ewS1: 30, ewS0: 0, ewX: 5, ewQ: 5, hist: new Array<number>(41).fill(0) },
      ...change,
    });
  const certified = async (training: Training, step: number) =>
    (await readBank(store, training.at(step))).certificates
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ qid }) => qid);

  it('renews every certificate of the bank, touched or not', async () => {
    const training = await startTraining(store, 'strict-renew', {
      questions: [question('strong'), question('weak'), question('new')],
      hyperparameters: strict,
    });
    // Among two eligible trackers the weaker one needs E >= 2 / (0.1 × 2), among three 3 / (0.1 × 2).
    await store.certifyStep(training.at(0), () => ({
      trackers: [rich('strong', 9), rich('weak', 2.5), tracker('new', 9, { S1: 4.5, n1: 9 })],
      certificates: [],
    }));
    await playGroup(training, 1, [
      { urls: [here], score: 0.5, answers: [] },
      { urls: [here], score: 0.4, answers: [] },
    ]);
    await certify(store, training.at(1));
    expect(await certified(training, 1)).toEqual(['strong', 'weak']);
    // The group makes one more tracker eligible, which touches neither of the two.
    await playGroup(training, 2, telling('new'));
    await certify(store, training.at(2));
    expect((await cell(training, 'new'))?.n).toBe(11);
    expect(await certified(training, 2)).toEqual(['strong']);
  });

  it('does not let retired and neutral questions take part in the selection', async () => {
    const gone = range(8).map((index) => `gone-${index}`);
    const training = await startTraining(store, 'strict-gone', {
      questions: ['kept', ...gone].map((id) => question(id)),
      hyperparameters: strict,
    });
    await store.certifyStep(training.at(0), () => ({
      trackers: [rich('kept', 2.5), ...gone.map((id) => rich(id, 0))],
      certificates: [],
    }));
    await store.saveQuestions(
      training.at(0),
      gone.map((id, index) =>
        question(id, index % 2 === 0 ? { status: 'retired' } : { status: 'neutral', polarity: 0 }),
      ),
    );
    await playGroup(training, 1, [{ urls: [here], score: 0.5 }]);
    expect(await certify(store, training.at(1))).toEqual({ observations: 0, certified: 1 });
    expect(await certified(training, 1)).toEqual(['kept']);
  });
});

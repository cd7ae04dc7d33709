import { beforeAll, describe, expect, it } from 'vitest';
import { certify } from '../../../activities/bank/certify.ts';
import { repairBank } from '../../../activities/bank/repair-bank.ts';
import { readBank } from '../../../activities/bank-snapshot.ts';
import type { Tracker } from '../../../workflows/method/types.ts';
import { certificate, createStorePlace, question, type Store, tracker } from '../../bank-store/fixtures.ts';
import { inForce, playGroup, range, startTraining, type Training } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const here = 'http://a.example/list';

/** Groups of two in which YES scores high and NO scores low. */
async function playTelling(training: Training, from: number, groups: number, version: number): Promise<void> {
  for (const step of range(groups).map((index) => from + index)) {
    await playGroup(
      training,
      step,
      [1, 0].map((pYes) => ({
        ...{ urls: [here], score: 0.1 + 0.8 * pYes },
        answers: [{ url: here, qid: 'q', version, pYes }],
      })),
    );
    await certify(store, training.at(step));
  }
}

const signs = async (training: Training, step: number) =>
  (await store.snapshotAt(training.at(step))).questions.map(
    ({ version, polarity, status }) => [version, polarity, status] as const,
  );

describe('repairing a contradicted sign', () => {
  it('gives the question a successor with the other sign and fresh trackers, which then certifies', async () => {
    const training = await startTraining(store, 'repair-flip', {
      questions: [question('q', { polarity: -1 })],
      hyperparameters: { groupSize: 2, nMin: 12 },
      steps: 20,
    });
    await playTelling(training, 0, 6, 1);
    expect((await readBank(store, training.at(5))).certificates.every(({ vetoed }) => vetoed)).toBe(true);
    expect(await repairBank(store, training.at(5))).toEqual({ repaired: 1, retired: 0 });
    expect(await signs(training, 4)).toEqual([[1, -1, 'candidate']]);
    expect(await signs(training, 5)).toEqual([
      [1, 0, 'neutral'],
      [2, 1, 'candidate'],
    ]);

    await playTelling(training, 6, 6, 2);
    const { certificates } = await readBank(store, training.at(11));
    expect(certificates.map(({ version, n, reasons }) => [version, n, reasons])).toEqual(
      range(3).map(() => [2, 12, []]),
    );
    // The version that lost its sign is no longer the latest one, so its evidence makes no third.
    expect(await repairBank(store, training.at(11))).toEqual({ repaired: 0, retired: 0 });
  });

  it('decides and reports the same when it is repeated', async () => {
    const training = await startTraining(store, 'repair-repeat', {
      questions: [question('q', { polarity: -1 })],
      // What was contradicted looks useless as well: a repeat that read its own result would retire it.
      hyperparameters: { groupSize: 2, nMin: 12, retireAfter: 12, liftMin: 1 },
    });
    await playTelling(training, 0, 6, 1);
    const first = await repairBank(store, training.at(5));
    const after = await store.snapshotAt(training.at(5));
    expect(first).toEqual({ repaired: 1, retired: 0 });
    for (const repeated of await Promise.all([1, 2].map(() => repairBank(store, training.at(5))))) {
      expect(repeated).toEqual(first);
    }
    expect(await store.snapshotAt(training.at(5))).toEqual(after);
  });

  it('leaves alone what is contradicted at a host or path only', async () => {
    const training = await startTraining(store, 'repair-host', { questions: [question('q')] });
    const lost = { logWp: [-9, -9, -9], logWm: [9, 9, 9] };
    await store.certifyStep(training.at(0), () => ({
      trackers: [tracker('q', 60), tracker('q', 60, { tier: 'host', key: 'h:a.example', ...lost })],
      certificates: [],
    }));
    expect(await repairBank(store, training.at(0))).toEqual({ repaired: 0, retired: 0 });
  });

  it('reads the evidence of a neutral question without the sign that its tracker still carries', async () => {
    const training = await startTraining(store, 'repair-stale-sign', {
      questions: [question('q', { polarity: 0, status: 'neutral' })],
    });
    // A YES that scores high, counted while the question was still thought to be negative.
    await store.certifyStep(training.at(0), () => ({
      trackers: [tracker('q', 60, { polarity: -1, logWp: [9, 9, 9], logWm: [-9, -9, -9] })],
      certificates: [],
    }));
    expect(await repairBank(store, training.at(0))).toEqual({ repaired: 1, retired: 0 });
    expect(await signs(training, 0)).toEqual([
      [1, 0, 'neutral'],
      [2, 1, 'candidate'],
    ]);
  });
});

describe('retiring a question', () => {
  const useless: Partial<Tracker> = {
    ...{ n1: 200, n0: 200, S1: 100, S0: 100, ewN1: 20, ewN0: 20, ewS1: 10, ewS0: 10 },
    ...{ logWp: [-1, -1, -1], logWm: [-1, -1, -1] },
  };

  it('takes enough observations without a lift, and a question that never certified', async () => {
    const training = await startTraining(store, 'retire', {
      questions: ['useless', 'young', 'useful', 'silent', 'once'].map((id) => question(id)),
    });
    await store.certifyStep(training.at(0), () => ({
      trackers: [],
      certificates: [inForce('once', 0.3, { tier: 'host', key: 'h:a.example' })],
    }));
    await store.certifyStep(training.at(1), () => ({
      trackers: [
        tracker('useless', 400, useless),
        tracker('young', 399, useless),
        tracker('useful', 400, { ...useless, ewS1: 12 }),
        tracker('once', 400, useless),
      ],
      certificates: [{ ...certificate('once', 400), tier: 'host', key: 'h:a.example', reasons: ['lift'] }],
    }));
    expect(await repairBank(store, training.at(1))).toEqual({ repaired: 0, retired: 1 });
    const retired = async (step: number) =>
      (await store.snapshotAt(training.at(step))).questions
        .filter(({ status }) => status === 'retired')
        .map(({ id }) => id);
    expect(await retired(0)).toEqual([]);
    expect(await retired(1)).toEqual(['useless']);
    expect(await repairBank(store, training.at(1))).toEqual({ repaired: 0, retired: 1 });
    // Later it has nothing left to do.
    expect(await repairBank(store, training.at(2))).toEqual({ repaired: 0, retired: 0 });
  });
});

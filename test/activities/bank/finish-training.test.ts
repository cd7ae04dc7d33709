import { beforeAll, describe, expect, it } from 'vitest';
import { certify } from '../../../activities/bank/certify.ts';
import type { CpuDependencies } from '../../../activities/bank/dependencies.ts';
import { finishTraining } from '../../../activities/bank/finish-training.ts';
import type { StepKey } from '../../../bank-store/contract.ts';
import { createEmbeddedTrainer, loadBasePolicy } from '../../../models/embedded/index.ts';
import { certify as certifyTracker } from '../../../workflows/method/certify.ts';
import { emptyTracker, updateTracker } from '../../../workflows/method/tracker.ts';
import type { Question, Tracker, TrackerObservation } from '../../../workflows/method/types.ts';
import { createStorePlace, question, type Store, tracker } from '../../bank-store/fixtures.ts';
import {
  failure,
  playGroup,
  range,
  startTraining,
  success,
  type Training,
  type TrainingSketch,
} from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const here = 'http://a.example/list';

/** Element-wise mean of bytes. */
const mergeAdapters: CpuDependencies['mergeAdapters'] = async (adapters) => ({
  adapter: Uint8Array.from(adapters[0] ?? [], (_, i) =>
    Math.round(adapters.reduce((sum, bytes) => sum + (bytes[i] ?? 0), 0) / adapters.length),
  ),
  averagingError: 0.25,
});

const publish = async (at: StepKey, bytes: Uint8Array) => {
  const digest = await store.blobs.put(bytes);
  await store.publishAdapter(at, { batchDigest: digest, digest, metrics: null });
};

async function startShards(runId: string, sketch: TrainingSketch = {}): Promise<Training> {
  const training = await startTraining(store, runId, { shards: 2, steps: 3, ...sketch });
  for (const shard of range(training.config.shards)) {
    await publish(training.at(-1, shard), Uint8Array.of(10 + 20 * shard, 7));
  }
  return training;
}

const finish = ({ runId }: Training) => finishTraining({ store, mergeAdapters }, { runId });

async function frozen(training: Training) {
  return store.loadBank((await finish(training)).bankDigest);
}

/** Two rollouts a group: their answers and judge scores, by shard, then step. */
const streams: readonly (readonly (readonly TrackerObservation[])[])[] = [
  [
    [
      { pYes: 1, judge: 0.9 },
      { pYes: 0, judge: 0.2 },
    ],
    [
      { pYes: 1, judge: 0.4 },
      { pYes: 0, judge: 0.5 },
    ],
    [
      { pYes: 0, judge: 0.1 },
      { pYes: 1, judge: 0.3 },
    ],
  ],
  [
    [
      { pYes: 1, judge: 1 },
      { pYes: 0, judge: 0.3 },
    ],
    [
      { pYes: 1, judge: 0.7 },
      { pYes: 1, judge: 0.6 },
    ],
    [
      { pYes: 0, judge: 0 },
      { pYes: 1, judge: 0.8 },
    ],
  ],
];

async function playStreams(training: Training): Promise<void> {
  for (const [shard, groups] of streams.entries()) {
    for (const [step, observations] of groups.entries()) {
      await playGroup(
        training,
        step,
        observations.map(({ pYes, judge }, index) => ({
          ...{ urls: [here], score: judge, outcome: index === 0 ? success : failure },
          answers: [{ url: here, qid: 'q', pYes }],
        })),
        shard,
      );
      await certify(store, training.at(step, shard));
    }
  }
}

describe('finishing a training run', () => {
  it('freezes the certificates of the pooled groups, under a digest that knows no run name', async () => {
    // Without forgetting and forecasts the pooled certificate is exact (METHOD 5.5).
    const hyperparameters = { groupSize: 2, nMin: 10, decay: 1, aciWarmup: 100 };
    const sketch = { hyperparameters, questions: [question('q')] };
    const training = await startShards('finish-pooled', sketch);
    await playStreams(training);
    const result = await finish(training);
    const { certificates } = await store.loadBank(result.bankDigest);

    const { hyperparameters: h } = training.config;
    const cell = { qid: 'q', version: 1, tier: 'global', key: '*', polarity: 1 } as const;
    const pooled = streams
      .flat()
      .reduce((before, group) => updateTracker(before, group, h), emptyTracker(cell, h));
    const expected = certifyTracker(pooled, h);
    const merged = certificates.find(({ tier }) => tier === 'global');
    if (merged?.liftKind !== 'trained') throw new Error('there is no trained certificate');
    expect(merged).toMatchObject({ n: 12, reasons: expected.reasons });
    for (const field of ['lift', 'logE', 'logEminus', 'z', 'alpha'] as const) {
      expect(merged[field]).toBeCloseTo(expected[field] ?? Number.NaN, 10);
    }
    expect(certificates.map(({ tier }) => tier).sort()).toEqual(['global', 'host', 'path']);

    expect(await finish(training)).toEqual(result);
    const { averagingError, ...stored } = result;
    expect(averagingError).toBe(0.25);
    expect(await store.getRun('finish-pooled')).toMatchObject({ ...stored, state: 'completed' });
    const other = await startShards('finish-under-another-name', sketch);
    await playStreams(other);
    expect(await finish(other)).toEqual(result);
  });

  it('averages the newest adapter of every shard', async () => {
    const training = await startShards('finish-average');
    await publish(training.at(1, 0), Uint8Array.of(20, 1));
    const { adapterDigest } = await finish(training);
    expect(await store.blobs.get(adapterDigest ?? '')).toEqual(Buffer.from([25, 4]));
  });

  it('averages embedded adapters, which refuse to be mixed with anything else', async () => {
    const trainer = createEmbeddedTrainer(loadBasePolicy());
    const training = await startTraining(store, 'finish-embedded', { shards: 2 });
    const adapters = await Promise.all([1, 2].map((seed) => trainer.initialAdapter([seed])));
    for (const [shard, bytes] of adapters.entries()) await publish(training.at(-1, shard), bytes);
    const { adapterDigest } = await finishTraining(
      { store, mergeAdapters: trainer.merge },
      { runId: training.runId },
    );
    const { adapter } = await trainer.merge(adapters, 'average');
    expect(await store.blobs.get(adapterDigest ?? '')).toEqual(Buffer.from(adapter));
  });

  it('says what to do when a shard has no adapter', async () => {
    const training = await startTraining(store, 'finish-no-adapter');
    await expect(finish(training)).rejects.toThrow(/no adapter.*under a new name/);
  });
});

describe('freezing the banks of shards', () => {
  const strong: Partial<Tracker> = {
    ...{ n1: 30, n0: 30, S1: 24, S0: 9, ewN1: 30, ewN0: 30, ewS1: 24, ewS0: 9, ewX: 5, ewQ: 5 },
    ...{ logWp: [9, 9, 9], logWm: [-9, -9, -9] },
  };

  /** What each shard believes in the end. */
  async function freeze(
    runId: string,
    shards: readonly { readonly questions: readonly Question[]; readonly trackers: readonly Tracker[] }[],
  ) {
    const training = await startShards(runId, { questions: [question('seed')] });
    for (const [shard, { questions, trackers }] of shards.entries()) {
      await store.certifyStep(training.at(1, shard), () => ({ trackers, certificates: [] }));
      await store.saveQuestions(training.at(1, shard), questions);
    }
    return frozen(training);
  }

  const opposite: Partial<Tracker> = { ...strong, polarity: -1, logWp: [-9, -9, -9], logWm: [5, 5, 5] };

  it.each([
    ['positive first', [0, 1]],
    ['negative first', [1, 0]],
  ])('keeps the stronger of two signs, and one certificate a cell: %s', async (name, order) => {
    const sides = [
      { questions: [question('q')], trackers: [tracker('q', 60, strong)] },
      { questions: [question('q', { polarity: -1 })], trackers: [tracker('q', 60, opposite)] },
    ];
    const bank = await freeze(
      `freeze-signs-${name}`,
      order.flatMap((side) => sides[side] ?? []),
    );
    expect(bank.questions.map(({ id, polarity }) => [id, polarity])).toEqual([
      ['q', 1],
      ['seed', 1],
    ]);
    expect(bank.certificates.map(({ qid, n, reasons }) => [qid, n, reasons])).toEqual([['q', 60, []]]);
  });

  it('does not retire for all what one shard has retired, and pools what that shard saw', async () => {
    const shard = (status: Question['status']) => ({
      questions: [question('q', { status })],
      trackers: [tracker('q', 60, strong)],
    });
    for (const [index, order] of [
      ['retired', 'candidate'] as const,
      ['candidate', 'retired'] as const,
    ].entries()) {
      const bank = await freeze(`freeze-retired-once-${index}`, order.map(shard));
      expect(bank.questions.map(({ id, status }) => [id, status])).toContainEqual(['q', 'candidate']);
      expect(bank.certificates.map(({ qid, n }) => [qid, n])).toEqual([['q', 120]]);
    }
    const gone = await freeze('freeze-retired-twice', [shard('retired'), shard('retired')]);
    expect(gone.questions.map(({ id }) => id)).toEqual(['seed']);
    expect(gone.certificates).toEqual([]);
  });

  it('gives a version that lost its sign no weight at any key, also where no group came by since', async () => {
    const repaired = {
      questions: [
        question('q', { polarity: 0, status: 'neutral' }),
        question('q', { version: 2, polarity: -1 }),
      ],
      trackers: [
        tracker('q', 60, strong),
        tracker('q', 60, { ...strong, tier: 'host', key: 'h:a.example', polarity: 0 }),
        tracker('q', 60, { ...opposite, version: 2, ewS1: 9, ewS0: 24, ewX: -5 }),
      ],
    };
    const bank = await freeze('freeze-repaired', [repaired, { questions: [], trackers: [] }]);
    expect(bank.questions.map(({ id, version, polarity }) => [id, version, polarity])).toEqual([
      ['q', 1, 0],
      ['q', 2, -1],
      ['seed', 1, 1],
    ]);
    expect(bank.certificates.map(({ version, key, weight }) => [version, key, weight])).toEqual([
      [1, '*', 0],
      [1, 'h:a.example', 0],
      [2, '*', -0.5],
    ]);
  });
});

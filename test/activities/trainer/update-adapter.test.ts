import { beforeAll, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../activities/bank/build-batch.ts';
import { createTrainerActivities } from '../../../activities/trainer/index.ts';
import type { BankStore } from '../../../bank-store/contract.ts';
import { BatchConflictError, StoreUnavailable } from '../../../bank-store/errors.ts';
import type { Trainer } from '../../../models/contract.ts';
import { createEmbeddedTrainer, loadBasePolicy } from '../../../models/embedded/index.ts';
import { translateFailure } from '../../../workers/failure-interceptor.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { inActivity } from '../bank/in-activity.ts';
import { playGroup, range, startTraining, type Training } from '../bank/training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const page = 'http://a.example/';

interface Gym {
  readonly updates: Parameters<Trainer['update']>[0][];
  initialise(training: Training): Promise<string>;
  update(training: Training, step: number, batchDigest: string, store?: BankStore): ReturnType<Update>;
}

type Update = ReturnType<typeof createTrainerActivities>['updateAdapter'];

/** Adds one byte an update; `bytesOf` may make it another one each time, as a GPU would. */
function openGym(bytesOf: (call: number) => number = () => 1): Gym {
  const updates: Parameters<Trainer['update']>[0][] = [];
  const trainer: Trainer = {
    identity: { provider: 'test', model: 'scripted-trainer', revision: '1' },
    initialAdapter: async (seed) => Buffer.from(`adapter of ${JSON.stringify(seed)}`),
    update: async (request) => {
      updates.push(request);
      const byte = bytesOf(updates.length);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return {
        adapter: Uint8Array.from([...request.adapter, byte]),
        metrics: { loss: -0.5, kl: 0.01, clipShare: 0.25, gradientNorm: byte },
      };
    },
    merge: async ([adapter = new Uint8Array()]) => ({ adapter, averagingError: 0 }),
  };
  const activities = (on: BankStore) => createTrainerActivities({ store: on, trainer });
  return {
    updates,
    initialise: async ({ runId }) =>
      (await inActivity(() => activities(store).initialiseAdapter({ runId }))).adapterDigest ?? '',
    update: (training, step, batchDigest, on = store) =>
      inActivity(() => activities(on).updateAdapter({ ...training.at(step), batchDigest })),
  };
}

async function playBatch(training: Training, step: number): Promise<string> {
  await playGroup(training, step, [
    { urls: [page, page], score: 0.2 },
    { urls: [page, page], score: 0.8 },
  ]);
  return (await buildBatch(store, training.at(step))).batchDigest ?? '';
}

describe('the adapter that a run starts from', () => {
  it('is the same bytes for every shard, however often it is initialised', async () => {
    const training = await startTraining(store, 'adapter-start', { shards: 3, seed: 4 });
    const gym = openGym();
    const digests = await Promise.all(range(3).map(() => gym.initialise(training)));
    expect(new Set(digests).size).toBe(1);
    for (const shard of range(3)) {
      expect(await store.latestAdapter(training.at(-1, shard))).toEqual({ step: -1, digest: digests[0] });
    }
    expect(Buffer.from(await store.blobs.get(digests[0] ?? '')).toString()).toBe(
      'adapter of [4,"initial adapter"]',
    );
  });

  it('of the embedded trainer depends on the seed alone', async () => {
    const { initialiseAdapter } = createTrainerActivities({
      store,
      trainer: createEmbeddedTrainer(loadBasePolicy()),
    });
    const digestOf = async (runId: string, seed: number) => {
      await startTraining(store, runId, { seed });
      return (await inActivity(() => initialiseAdapter({ runId }))).adapterDigest;
    };
    const [one, same, other] = [
      await digestOf('adapter-embedded-a', 1),
      await digestOf('adapter-embedded-b', 1),
      await digestOf('adapter-embedded-c', 2),
    ];
    expect(one).toBe(same);
    expect(other).not.toBe(one);
  });
});

describe('an optimiser step', () => {
  it('starts from the adapter that acted, with the settings of the run', async () => {
    const training = await startTraining(store, 'update-settings', {
      hyperparameters: { epsHigh: 0.28, kl: 0.01, lossNorm: 'step' },
    });
    const gym = openGym();
    const initial = await gym.initialise(training);
    const result = await gym.update(training, 0, await playBatch(training, 0));
    expect(gym.updates[0]?.settings).toEqual({
      ...{ learningRate: 0.05, maxGradientNorm: null },
      ...{ epsLow: 0.2, epsHigh: 0.28, kl: 0.01, lossNorm: 'step' },
    });
    expect(gym.updates[0]?.batch).toMatchObject({ adapterDigest: initial, shard: 0, trainingStep: 0 });
    expect(Buffer.from(gym.updates[0]?.adapter ?? [])).toEqual(Buffer.from(await store.blobs.get(initial)));
    expect(result).toMatchObject({ loss: -0.5, kl: 0.01, clipShare: 0.25 });
    expect(await store.latestAdapter(training.at(0))).toEqual({ step: 0, digest: result.adapterDigest });
  });

  it('is applied exactly once by concurrent calls, even where each would compute other bytes', async () => {
    const training = await startTraining(store, 'update-concurrent');
    const gym = openGym((call) => call);
    await gym.initialise(training);
    const batchDigest = await playBatch(training, 0);
    const results = await Promise.all(range(3).map(() => gym.update(training, 0, batchDigest)));
    results.push(await gym.update(training, 0, batchDigest));
    for (const result of results) expect(result).toEqual(results[0]);
    const published = await store.publishedAdapter(training.at(0));
    expect(published?.digest).toBe(results[0]?.adapterDigest);
    // The metrics belong to the bytes that were published.
    const bytes = await store.blobs.get(published?.digest ?? '');
    expect(published?.metrics?.gradientNorm).toBe(bytes.at(-1));
  });

  it('that died between update and publication is applied once all the same', async () => {
    const training = await startTraining(store, 'update-crash');
    const gym = openGym();
    const initial = await gym.initialise(training);
    const batchDigest = await playBatch(training, 0);
    const dying: BankStore = {
      ...store,
      publishAdapter: async () => {
        throw new StoreUnavailable('the worker died here');
      },
    };
    await expect(gym.update(training, 0, batchDigest, dying)).rejects.toThrow(/died here/);
    expect(await store.publishedAdapter(training.at(0))).toBeNull();
    const { adapterDigest } = await gym.update(training, 0, batchDigest);
    expect(gym.updates).toHaveLength(2);
    const [before, after] = [await store.blobs.get(initial), await store.blobs.get(adapterDigest)];
    expect(after).toHaveLength(before.length + 1);
    // A retry whose answer was lost finds the row and computes nothing.
    expect((await gym.update(training, 0, batchDigest)).adapterDigest).toBe(adapterDigest);
    expect(gym.updates).toHaveLength(2);
  });

  it('with a second batch is a conflict, and changes nothing', async () => {
    const training = await startTraining(store, 'update-conflict');
    const gym = openGym();
    await gym.initialise(training);
    const batchDigest = await playBatch(training, 0);
    const { adapterDigest } = await gym.update(training, 0, batchDigest);
    const conflict = await gym.update(training, 0, 'f'.repeat(64)).catch((error: unknown) => error);
    expect(conflict).toBeInstanceOf(BatchConflictError);
    expect(translateFailure(conflict)).toMatchObject({ type: 'BatchConflict', nonRetryable: true });
    expect((await store.publishedAdapter(training.at(0)))?.digest).toBe(adapterDigest);
  });

  it('is refused where nobody acted with an adapter', async () => {
    const training = await startTraining(store, 'update-no-adapter');
    const gym = openGym();
    const batchDigest = await playBatch(training, 0);
    await expect(gym.update(training, 0, batchDigest)).rejects.toThrow(/without an adapter/);
    expect(gym.updates).toEqual([]);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { commitTrainingStep } from '../../../activities/bank/commit-training-step.ts';
import { planTrainingStep } from '../../../activities/bank/plan-training-step.ts';
import { trainingTask } from '../../../workflows/method/task-order.ts';
import { rolloutId } from '../../../workflows/names.ts';
import { createStorePlace, type Store, task } from '../../bank-store/fixtures.ts';
import { failure, infra, playGroup, range, startTraining, success } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const tasks = range(7).map((index) => ({ ...task, id: `sandbox/mail/plan-${index}` }));
const ids = tasks.map(({ id }) => id);

describe('planning a training step', () => {
  it('opens one group of rollouts, and opens nothing new when it is repeated or raced', async () => {
    const training = await startTraining(store, 'plan-repeat', { tasks });
    const plan = await planTrainingStep(store, training.at(3));
    const again = await Promise.all(range(4).map(() => planTrainingStep(store, training.at(3))));
    for (const repeated of again) expect(repeated).toEqual(plan);
    const opened = await store.rolloutsOf(plan.groupId);
    expect(opened.map(({ rollout }) => rollout.id)).toEqual(
      range(plan.rollouts).map((index) => rolloutId(plan.groupId, index)),
    );
    expect(opened).toHaveLength(3);
    expect(plan.committed).toBeNull();
  });

  it('takes the task that the order of the shard names, and seeds nothing with a run name', async () => {
    const [one, two] = [
      await startTraining(store, 'plan-one', { tasks, shards: 2, seed: 5 }),
      await startTraining(store, 'plan-two', { tasks, shards: 2, seed: 5 }),
    ];
    for (const [shard, step] of [
      [0, 0],
      [1, 0],
      [1, 4],
    ] as const) {
      const plans = await Promise.all(
        [one, two].map((training) => planTrainingStep(store, training.at(step, shard))),
      );
      const expected = trainingTask(ids, { seed: 5, shards: 2, shard, step });
      expect(plans.map(({ taskId }) => taskId)).toEqual([expected, expected]);
      const seeds = await Promise.all(
        plans.map(async ({ groupId }) =>
          (await store.rolloutsOf(groupId)).map(({ rollout }) => rollout.seed),
        ),
      );
      expect(seeds[0]).toEqual(seeds[1]);
      expect(seeds[0]).toEqual(range(3).map((index) => [5, shard, step, expected, index]));
    }
  });

  it('acts with the newest adapter of the steps before it, never with its own', async () => {
    const training = await startTraining(store, 'plan-adapter');
    const publish = async (step: number, name: string) => {
      const digest = await store.blobs.put(Buffer.from(name));
      await store.publishAdapter(training.at(step), { batchDigest: digest, digest, metrics: null });
      return digest;
    };
    const first = await planTrainingStep(store, training.at(0));
    expect((await store.getGroup(first.groupId)).adapterDigest).toBeNull();
    const updated = await publish(1, 'after step 1');
    // Step 2 had no gradient, so that step 3 still acts with what step 1 left.
    const plan = await planTrainingStep(store, training.at(3));
    expect((await store.getGroup(plan.groupId)).adapterDigest).toBe(updated);
    await publish(3, 'after step 3');
    expect(await planTrainingStep(store, training.at(3))).toEqual(plan);
  });

  it('returns what a committed step was committed as, and no more', async () => {
    const training = await startTraining(store, 'plan-committed');
    await playGroup(training, 0, [
      { urls: ['http://a.example/'], outcome: success, score: 0.25 },
      { urls: ['http://a.example/'], outcome: failure, score: 0.75 },
      { urls: ['http://a.example/'], outcome: infra },
    ]);
    const commit = { ...training.at(0), outcome: 'no_gradient' as const };
    const summary = await commitTrainingStep({ store, codeVersion: 'v1' }, commit);
    expect(summary).toMatchObject({ success: 1, failure: 1, unscored: 1, meanJudgeScore: 0.5 });
    expect((await planTrainingStep(store, training.at(0))).committed).toEqual(summary);
    expect(await commitTrainingStep({ store, codeVersion: 'v2' }, commit)).toEqual(summary);
  });
});

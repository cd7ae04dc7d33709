import { beforeAll, describe, expect, it } from 'vitest';
import { closeRollout } from '../../../activities/bank/close-rollout.ts';
import { commitTrainingStep } from '../../../activities/bank/commit-training-step.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { infra, playGroup, playRollout, startTraining, success } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const page = 'http://a.example/';

describe('closing a rollout whose activity was given up', () => {
  it('keeps one that had finished, with its verdict and its trajectory', async () => {
    const training = await startTraining(store, 'close-finished');
    const [finished = ''] = await playGroup(training, 0, [{ urls: [page, page], outcome: success }]);
    const { finished: before } = await store.getRollout(finished);
    expect(await closeRollout(store, { rolloutId: finished })).toEqual({
      ...{ rolloutId: finished, attempt: 1, outcome: success, stopReason: 'answered', steps: 1 },
      trajectoryDigest: before?.trajectoryDigest,
    });
    expect((await store.getRollout(finished)).finished).toEqual(before);
  });

  it('leaves one that no attempt finished unscored, counts it, and refuses what its worker still writes', async () => {
    const training = await startTraining(store, 'close-lost');
    const [, begun = '', never = ''] = await playGroup(training, 0, [
      { urls: [page], outcome: success },
      { urls: [], outcome: null },
    ]);
    const { fence } = await store.claimAttempt(begun, 'a worker that vanished');
    for (const rolloutId of [begun, never]) {
      const closed = await closeRollout(store, { rolloutId });
      expect(closed).toMatchObject({ rolloutId, outcome: infra, stopReason: 'died' });
      expect(await closeRollout(store, { rolloutId })).toEqual(closed);
    }
    await expect(store.confirmInitialState(begun, fence, 'late')).rejects.toThrow();
    await expect(playRollout(store, never, { urls: [page] })).rejects.toThrow();
    const commit = { ...training.at(0), outcome: 'below_quorum' as const };
    expect(await commitTrainingStep({ store, codeVersion: 'v1' }, commit)).toMatchObject({
      ...{ success: 1, failure: 0, unscored: 2, meanJudgeScore: null },
    });
  });
});

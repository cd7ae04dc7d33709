import { beforeAll, describe, expect, it } from 'vitest';
import { cancelRun } from '../../../activities/bank/cancel-run.ts';
import { commitTrainingStep } from '../../../activities/bank/commit-training-step.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { playEvaluation, task } from './evaluation-scene.ts';
import { infra, playGroup, startTraining, success } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const page = 'http://a.example/';
const cancel = (runId: string) => cancelRun({ store, codeVersion: 'v1' }, { runId });

describe('cancelling', () => {
  it('a training run commits the steps under way as aborted, and keeps what was finished; so does a repeat', async () => {
    const training = await startTraining(store, 'cancel-train', { shards: 3 });
    await playGroup(training, 0, [{ urls: [page] }, { urls: [page] }, { urls: [page] }]);
    const done = { ...training.at(0), outcome: 'no_gradient' as const };
    await commitTrainingStep({ store, codeVersion: 'v1' }, done);
    const [finished = '', open = ''] = await playGroup(training, 1, [{ urls: [page], outcome: success }]);
    await playGroup(training, 0, [], 1);

    for (let repeat = 0; repeat < 2; repeat += 1) {
      await cancel(training.runId);
      const { state, stateReason } = await store.getRun(training.runId);
      expect(state).toBe('cancelled');
      expect(stateReason).toContain('aborted: step 1 of shard 0, step 0 of shard 1');
      const rows = await store.trainingSteps(training.runId);
      expect(rows.map(({ shard, step, outcome }) => [shard, step, outcome])).toEqual([
        [0, 0, 'no_gradient'],
        [0, 1, 'aborted'],
        [1, 0, 'aborted'],
      ]);
      expect(rows[1]).toMatchObject({ success: 1, unscored: 2 });
    }
    expect((await store.getRollout(finished)).finished?.outcome).toEqual(success);
    expect((await store.getRollout(open)).finished).toMatchObject({
      outcome: infra,
      verdictMessage: 'the run was cancelled',
    });
  });

  it('a training run keeps a step whose commit was still on its way when it was cancelled', async () => {
    const training = await startTraining(store, 'cancel-late-commit');
    await playGroup(training, 0, [{ urls: [page] }, { urls: [page] }, { urls: [page] }]);
    const late: Store = {
      ...store,
      trainingSteps: async (runId) => {
        const before = await store.trainingSteps(runId);
        const done = { ...training.at(0), outcome: 'no_gradient' as const };
        await commitTrainingStep({ store, codeVersion: 'v1' }, done);
        return before;
      },
    };
    await cancelRun({ store: late, codeVersion: 'v1' }, { runId: training.runId });
    expect(await store.getRun(training.runId)).toMatchObject({
      state: 'cancelled',
      stateReason: expect.stringContaining('nothing was under way'),
    });
    expect(await store.trainingSteps(training.runId)).toMatchObject([{ outcome: 'no_gradient' }]);
  });

  it('an evaluation ends the rollouts of its open task and leaves the task without a result', async () => {
    const [finished = '', open = ''] = await playEvaluation(store, 'cancel-eval', {
      members: [{ urls: [page] }, { urls: [], outcome: null }],
    });
    await cancel('cancel-eval');
    expect((await store.getRun('cancel-eval')).stateReason).toContain(`aborted: ${task.id}`);
    expect((await store.getRollout(finished)).finished?.outcome).toEqual(success);
    expect((await store.getRollout(open)).finished?.outcome).toEqual(infra);
    expect(await store.selections('cancel-eval')).toEqual([]);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { closeRollout } from '../../../activities/bank/close-rollout.ts';
import { planEvaluationTask, recordSelection } from '../../../activities/bank/evaluation.ts';
import { createCpuActivities } from '../../../activities/bank/index.ts';
import type { EvaluationTaskResult, Outcome } from '../../../activities/contracts.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { freezeBank, playEvaluation, task } from './evaluation-scene.ts';
import { inActivity } from './in-activity.ts';
import { failure, infra, type Member, range, success } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const ended = (outcome: Outcome | null): Member => ({ urls: ['http://a.example/'], outcome });

const record = (runId: string, selected: number | null, swap?: boolean) =>
  recordSelection(
    { store, codeVersion: 'v1' },
    {
      ...{ runId, taskId: task.id, selected },
      comparisons:
        swap === undefined
          ? []
          : [{ incumbent: 0, challenger: 1, swap, votes: swap ? ['B', 'B'] : ['A', 'A'] }],
    },
  );

describe('planning an evaluation task', () => {
  it('opens the greedy rollout first, then the retries, with seeds of their own and no run name in them', async () => {
    const seeds = [];
    for (const runId of ['plan-a', 'plan-b']) {
      const rolloutIds = await playEvaluation(store, runId, {
        members: range(4).map(() => ended(null)),
        hyperparameters: { retryTemperature: 0.8 },
      });
      const rollouts = await Promise.all(rolloutIds.map((id) => store.getRollout(id)));
      expect(rollouts.map(({ rollout }) => rollout.temperature)).toEqual([0, 0.8, 0.8, 0.8]);
      seeds.push(rollouts.map(({ rollout }) => rollout.seed));
    }
    expect(seeds[0]).toEqual(seeds[1]);
    expect(new Set(seeds[0]?.map((seed) => JSON.stringify(seed))).size).toBe(4);
  });

  it('selects only where there is a bank and more than one rollout', async () => {
    const bankDigest = await freezeBank(store, 'plan-a', { questions: [], certificates: [] });
    const plan = async (runId: string, count: number, bank: string | null) => {
      await playEvaluation(store, runId, {
        members: range(count).map(() => ended(null)),
        bankDigest: bank,
      });
      return (await planEvaluationTask(store, { runId, taskId: task.id })).select;
    };
    expect(await plan('plan-no-bank', 2, null)).toBe(false);
    expect(await plan('plan-one', 1, bankDigest)).toBe(false);
    expect(await plan('plan-two', 2, bankDigest)).toBe(true);
  });

  it('reads a page of the pinned list, never more than there is', async () => {
    const { listEvaluationTasks } = createCpuActivities({
      store,
      mergeAdapters: async () => ({ adapter: new Uint8Array(), averagingError: 0 }),
      codeVersion: 'v1',
    });
    const page = (from: number) => inActivity(() => listEvaluationTasks({ runId: 'plan-a', from, to: 20 }));
    expect(await page(0)).toEqual([task.id]);
    expect(await page(1)).toEqual([]);
  });
});

describe('recording a selection', () => {
  it('reports the greedy and the emitted outcome, and the same again', async () => {
    const rolloutIds = await playEvaluation(store, 'record-swap', {
      members: [ended(failure), ended(success)],
    });
    const expected: EvaluationTaskResult = {
      ...{ taskId: task.id, selected: rolloutIds[1] ?? '', greedy: failure, emitted: success, swaps: 1 },
    };
    expect(await record('record-swap', 1, true)).toEqual(expected);
    expect(await record('record-swap', 1, true)).toEqual(expected);
    const plan = await planEvaluationTask(store, { runId: 'record-swap', taskId: task.id });
    expect(plan.done).toEqual(expected);
    // The first decision stands, whatever a later try would have decided.
    expect(await record('record-swap', 0, false)).toEqual(expected);
    const { comparisons } = (await store.selectionOf('record-swap', task.id)) ?? { comparisons: [] };
    expect(comparisons).toEqual([
      {
        ...{ incumbent: rolloutIds[0], challenger: rolloutIds[1], swap: true },
        votes: [
          { vote: 0, label: 'B' },
          { vote: 1, label: 'B' },
        ],
      },
    ]);
  });

  it('keeps a lost rollout in the denominator as unscored infrastructure', async () => {
    const [lost = ''] = await playEvaluation(store, 'record-lost', {
      members: [ended(null), ended(success)],
    });
    await closeRollout(store, { rolloutId: lost });
    expect(await record('record-lost', 1)).toMatchObject({ greedy: infra, emitted: success });
    expect(await store.rolloutCounts('record-lost')).toEqual({
      open: 0,
      success: 1,
      failure: 0,
      unscored: 1,
    });
    expect((await store.getRollout(lost)).finished).toMatchObject({ stopReason: 'died' });
  });

  it('leaves a task without a candidate unscored, with the cause of its greedy rollout', async () => {
    const invalid: Outcome = { kind: 'unscored', cause: 'invalid' };
    await playEvaluation(store, 'record-none', { members: [ended(invalid), ended(infra)] });
    expect(await record('record-none', null)).toMatchObject({
      ...{ selected: null, greedy: invalid, emitted: invalid },
    });
    expect(await store.selections('record-none')).toHaveLength(1);
  });
});

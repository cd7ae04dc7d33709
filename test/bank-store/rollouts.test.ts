import { beforeAll, expect, test } from 'vitest';
import type { NewGroup } from '../../bank-store/contract.ts';
import { ContentConflict, NotFound } from '../../bank-store/index.ts';
import { createStorePlace, ending, rollout, run, stepAt, task } from './fixtures.ts';

const { openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);
const group: NewGroup = { id: 'g', runId: run.id, shard: 0, step: 3, taskId: task.id, adapterDigest: null };
const members = (groupId: string) =>
  [2, 0, 1].map((index) => rollout(`${groupId}/rollout/${index}`, { ownerId: groupId, index }));

beforeAll(async () => {
  await store.createRun(run);
  await store.registerTasks([task]);
});

test('a group and its rollouts open together or not at all', async () => {
  const stray = rollout('stray', { ownerId: 'g', index: 9, taskId: 'no/such/task' });
  await expect(store.openGroup(group, [...members('g'), stray])).rejects.toThrow(NotFound);
  await expect(store.getGroup('g')).rejects.toThrow(NotFound);
  expect(await store.rolloutsOf('g')).toEqual([]);
  await Promise.all([store, other].map((each) => each.openGroup(group, members('g'))));
  expect(await store.getGroup('g')).toEqual(group);
  expect(await store.rolloutsOf('g')).toHaveLength(3);
});

test('a training step has one group', async () => {
  await store.openGroup({ ...group, id: 'h', step: 4 }, []);
  await expect(store.openGroup({ ...group, id: 'h2', step: 4 }, [])).rejects.toThrow(ContentConflict);
  await expect(store.openGroup({ ...group, id: 'h', step: 5 }, [])).rejects.toThrow(ContentConflict);
});

test('siblings come in generation order, each with its own steps and ending', async () => {
  await store.openGroup({ ...group, id: 'i', step: 6 }, members('i'));
  for (const index of [0, 1]) {
    const id = `i/rollout/${index}`;
    const { fence } = await store.claimAttempt(id, 'w');
    for (let step = 0; step <= index; step += 1) await store.recordStep(id, fence, stepAt(step));
    if (index === 1) await store.finishRollout(id, fence, ending);
  }
  const siblings = await other.rolloutsOf('i');
  expect(
    siblings.map(({ rollout: { index }, steps, finished }) => [index, steps.length, finished?.answer]),
  ).toEqual([
    [0, 1, undefined],
    [1, 2, 'done'],
    [2, 0, undefined],
  ]);
  expect(siblings[1]).toEqual(await store.getRollout('i/rollout/1'));
});

test('counts tell open, scored and unscored rollouts of one run apart', async () => {
  await store.createRun({ ...run, id: 'counted' });
  const outcomes = [
    { kind: 'success' },
    { kind: 'failure' },
    { kind: 'failure' },
    { kind: 'unscored', cause: 'blocked' },
    null,
  ] as const;
  for (const [index, outcome] of outcomes.entries()) {
    const id = `counted/${index}`;
    await store.openRollouts([rollout(id, { runId: 'counted' })]);
    const { fence } = await store.claimAttempt(id, 'w');
    if (outcome !== null) await store.finishRollout(id, fence, { ...ending, outcome });
  }
  expect(await store.rolloutCounts('counted')).toEqual({ open: 1, success: 1, failure: 2, unscored: 1 });
});

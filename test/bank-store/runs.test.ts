import { expect, test } from 'vitest';
import { ContentConflict, NotFound, RunIdentityMismatch } from '../../bank-store/index.ts';
import { createStorePlace, digestOfNothing, run } from './fixtures.ts';

const { openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);

test('a run is made once however many make it at the same time, and is read back as it was given', async () => {
  const made = await Promise.all([store, other, store, other].map((each) => each.createRun(run)));
  for (const each of made) expect(each).toEqual(made[0]);
  expect(made[0]).toMatchObject({
    ...run,
    state: 'created',
    stateReason: '',
    bankDigest: null,
    codeVersions: ['v1'],
  });
  expect(await store.getRun(run.id)).toEqual(made[0]);
});

test('another identity, kind or seed under the same name is refused, field by field', async () => {
  await store.createRun(run);
  const { groupSize: _, ...rest } = run.identity;
  const identity = { ...rest, 'judge.model': 'opus', 'judge.effort': 'high' };
  const failure = await store
    .createRun({ ...run, kind: 'evaluate', seed: 2, identity })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RunIdentityMismatch);
  expect(failure).toMatchObject({
    differences: [
      'groupSize: stored 8, given nothing',
      'judge.effort: stored nothing, given "high"',
      'judge.model: stored "rubric", given "opus"',
      'kind: stored "train", given "evaluate"',
      'seed: stored 1, given 2',
    ],
  });
});

test('null in an identity differs from absence', async () => {
  await store.createRun(run);
  const { 'policy.adapter': _, ...identity } = run.identity;
  await expect(store.createRun({ ...run, identity })).rejects.toThrow(
    'policy.adapter: stored null, given nothing',
  );
});

test('a newer code version may continue a run, which then lists both', async () => {
  await store.createRun({ ...run, id: 'continued' });
  const continued = await store.createRun({ ...run, id: 'continued', codeVersion: 'v2' });
  expect(continued).toMatchObject({ codeVersion: 'v1', codeVersions: ['v1', 'v2'] });
});

test('a run of the same identity takes the configuration given last: ceilings are raised so', async () => {
  await store.createRun({ ...run, id: 'raised', config: { usdPerRun: 1 } });
  expect(await store.createRun({ ...run, id: 'raised', config: { usdPerRun: 2 } })).toMatchObject({
    config: { usdPerRun: 2 },
  });
  const other = { ...run, id: 'raised', identity: { another: true }, config: { usdPerRun: 3 } };
  await expect(store.createRun(other)).rejects.toThrow(RunIdentityMismatch);
  expect((await store.getRun('raised')).config).toEqual({ usdPerRun: 2 });
});

test('a finished run keeps its results: the same again changes nothing, others are refused', async () => {
  await store.createRun({ ...run, id: 'finished' });
  const result = { bankDigest: digestOfNothing('1'), adapterDigest: digestOfNothing('2') };
  await store.finishRun('finished', result);
  await store.finishRun('finished', result);
  await expect(store.finishRun('finished', { ...result, bankDigest: digestOfNothing('3') })).rejects.toThrow(
    ContentConflict,
  );
  await expect(store.finishRun('finished', { bankDigest: null, adapterDigest: null })).rejects.toThrow(
    ContentConflict,
  );
  expect(await store.getRun('finished')).toMatchObject({ ...result, state: 'completed' });
});

test('a run without results can finish', async () => {
  await store.createRun({ ...run, id: 'evaluated', kind: 'evaluate' });
  await store.finishRun('evaluated', { bankDigest: null, adapterDigest: null });
  expect((await store.getRun('evaluated')).state).toBe('completed');
});

test('a state carries its reason', async () => {
  await store.createRun({ ...run, id: 'paused' });
  await store.setRunState('paused', 'paused', 'the GPU queue has no worker');
  expect(await store.getRun('paused')).toMatchObject({
    state: 'paused',
    stateReason: 'the GPU queue has no worker',
  });
});

test('runs are listed newest first', async () => {
  await store.createRun({ ...run, id: 'newest' });
  expect((await store.listRuns())[0]?.id).toBe('newest');
});

test('an unknown run is not found, not empty', async () => {
  await expect(store.getRun('nobody')).rejects.toThrow(NotFound);
  await expect(store.setRunState('nobody', 'paused', '')).rejects.toThrow(NotFound);
  await expect(store.finishRun('nobody', { bankDigest: null, adapterDigest: null })).rejects.toThrow(
    NotFound,
  );
});

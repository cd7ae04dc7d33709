import { beforeAll, expect, test } from 'vitest';
import type { Grade } from '../../bank-store/contract.ts';
import { ContentConflict, NotFound } from '../../bank-store/index.ts';
import { createStorePlace, ending, rollout, run, task } from './fixtures.ts';

const { openStore } = await createStorePlace();
const store = await openStore();

const finish = {
  grader: 'rollout',
  ref: 'finish',
  outcome: ending.outcome,
  message: 'archived',
  edit: null,
} as const;
const webJudge: Grade = {
  grader: 'webjudge',
  ref: 'protocol 1',
  outcome: { kind: 'failure' },
  message: 'the wrong letter',
  edit: null,
};
const correction: Grade = {
  grader: 'person',
  ref: 'edit 1',
  outcome: { kind: 'unscored', cause: 'not_executable' },
  message: 'the site has no archive any more',
  edit: { author: 'ada', reason: 'looked at the screenshots' },
};

beforeAll(async () => {
  await store.createRun(run);
  await store.registerTasks([task]);
});

async function finished(id: string) {
  await store.openRollouts([rollout(id)]);
  const { fence } = await store.claimAttempt(id, 'w');
  return store.finishRollout(id, fence, ending);
}

test('the latest verdict counts, and all earlier ones stay with author and reason', async () => {
  const before = await finished('regraded');
  await store.gradeRollout('regraded', webJudge);
  expect((await store.getRollout('regraded')).finished).toEqual({
    ...before,
    outcome: webJudge.outcome,
    verdictMessage: webJudge.message,
  });
  await store.gradeRollout('regraded', correction);
  expect((await store.getRollout('regraded')).finished?.outcome).toEqual(correction.outcome);
  expect(await store.gradesOf('regraded')).toEqual([finish, webJudge, correction]);
});

test('a verdict repeated changes nothing, not even which one is latest', async () => {
  await finished('repeated');
  await store.gradeRollout('repeated', webJudge);
  await store.gradeRollout('repeated', correction);
  await store.gradeRollout('repeated', webJudge);
  expect((await store.getRollout('repeated')).finished?.outcome).toEqual(correction.outcome);
  expect(await store.gradesOf('repeated')).toHaveLength(3);
});

test('a verdict cannot be rewritten', async () => {
  await finished('rewritten');
  await store.gradeRollout('rewritten', webJudge);
  await expect(
    store.gradeRollout('rewritten', { ...webJudge, outcome: { kind: 'success' } }),
  ).rejects.toThrow(ContentConflict);
  expect((await store.getRollout('rewritten')).finished?.outcome).toEqual(webJudge.outcome);
});

test('a regraded rollout still finishes with the ending that it finished with', async () => {
  await finished('finished again');
  await store.gradeRollout('finished again', webJudge);
  const { fence } = await store.claimAttempt('finished again', 'w');
  expect((await store.finishRollout('finished again', fence, ending)).outcome).toEqual(webJudge.outcome);
});

test('only a finished rollout has a verdict', async () => {
  await store.openRollouts([rollout('unfinished')]);
  await expect(store.gradeRollout('unfinished', webJudge)).rejects.toThrow(NotFound);
  await expect(store.gradeRollout('nobody', webJudge)).rejects.toThrow(NotFound);
});

import { beforeAll, expect, test } from 'vitest';
import type { StoredAnswer, StoredJudgement, TrainingStepRow } from '../../bank-store/contract.ts';
import { BatchConflictError, BlobMissing, ContentConflict, NotFound } from '../../bank-store/index.ts';
import { createStorePlace, digestOfNothing, rollout, run, task } from './fixtures.ts';

const { openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);

const members = [0, 1, 2].map((index) => rollout(`g/${index}`, { ownerId: 'g', index }));
const at = (step: number, shard = 0) => ({ runId: run.id, shard, step });
const metrics = { loss: -0.1 - 0.2, kl: 1e-9, clipShare: 0, gradientNorm: 2 };

beforeAll(async () => {
  await store.createRun(run);
  await store.registerTasks([task]);
  await store.openGroup(
    { id: 'g', runId: run.id, shard: 0, step: 0, taskId: task.id, adapterDigest: null },
    members,
  );
});

const judgement = (index: number): StoredJudgement => ({
  rolloutId: `g/${index}`,
  score: index / 3,
  stepScores: [0.1 + 0.2, 1],
  rationale: `because ${index}`,
});

test('a group is judged once and as a whole', async () => {
  const all = [2, 0, 1].map(judgement);
  await expect(store.saveJudgements('g', [...all, { ...judgement(0), rolloutId: 'nobody' }])).rejects.toThrow(
    NotFound,
  );
  expect(await store.judgementsOf('g')).toEqual([]);
  await Promise.all([store, other].map((each) => each.saveJudgements('g', all)));
  expect(await store.judgementsOf('g')).toEqual([0, 1, 2].map(judgement));
  const changed = [judgement(0), { ...judgement(1), score: 0.34 }];
  await expect(store.saveJudgements('g', changed)).rejects.toThrow(ContentConflict);
  expect(await store.judgementsOf('g')).toEqual([0, 1, 2].map(judgement));
});

test('a score outside [0, 1] is refused by the database', async () => {
  const outside = { ...judgement(0), score: 1.0000001 };
  await store.openGroup(
    { id: 'h', runId: run.id, shard: 0, step: 1, taskId: task.id, adapterDigest: null },
    [],
  );
  await expect(store.saveJudgements('h', [outside])).rejects.toThrow('judgements_score_check');
});

const answer = (rolloutId: string, questionId: string, pYes: number | null): StoredAnswer => ({
  rolloutId,
  pathKey: 'mail.sandbox/inbox',
  hostKey: 'mail.sandbox',
  questionId,
  version: 1,
  pYes,
  source: 'assertion',
});

test('answers keep their order, an invalid one stays invalid, and a new set replaces the old one whole', async () => {
  const first = [answer('g/0', 'q_b', 1), answer('g/0', 'q_a', null), answer('g/0', 'q_b', 0)];
  await store.saveAnswers('g/0', first);
  await store.saveAnswers('g/1', [answer('g/1', 'q_a', 0.1 + 0.2)]);
  expect(await store.answersOf(['g/1', 'g/0', 'g/2'])).toEqual([answer('g/1', 'q_a', 0.1 + 0.2), ...first]);
  await store.saveAnswers('g/0', first.slice(1));
  expect(await other.answersOf(['g/0'])).toEqual(first.slice(1));
  await store.saveAnswers('g/0', []);
  expect(await store.answersOf(['g/0'])).toEqual([]);
});

test('sets of answers that race never mix', async () => {
  const sets = ['a', 'b', 'c', 'd'].map((id, index) =>
    Array.from({ length: 30 + 10 * index }, () => answer('g/2', id, 1)),
  );
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(sets.map((set, index) => (index % 2 ? store : other).saveAnswers('g/2', set)));
    expect(sets).toContainEqual(await store.answersOf(['g/2']));
  }
});

test('answers of another rollout, or of none, are refused', async () => {
  await expect(store.saveAnswers('g/0', [answer('g/1', 'q', 1)])).rejects.toThrow(ContentConflict);
  await expect(store.saveAnswers('nobody', [])).rejects.toThrow(NotFound);
});

test('an adapter is published once a step: a repeat gets the first one, another batch is a fault', async () => {
  const [first, second] = await Promise.all([1, 2].map((weight) => store.blobs.put(Buffer.of(weight))));
  const adapter = { batchDigest: digestOfNothing('b'), digest: first!, metrics };
  const rival = { ...adapter, digest: second! };
  const published = await Promise.all([
    store.publishAdapter(at(0), adapter),
    other.publishAdapter(at(0), rival),
  ]);
  expect(published[0]).toEqual(published[1]);
  expect(published).toContainEqual(published[0]?.digest === first ? adapter : rival);
  const failure = store.publishAdapter(at(0), { ...adapter, batchDigest: digestOfNothing('c') });
  await expect(failure).rejects.toThrow(BatchConflictError);
  await expect(failure).rejects.toThrow(digestOfNothing('c'));
  expect(await store.publishedAdapter(at(0))).toEqual(published[0]);
});

test('of batches that race for one step one wins and the others are faults', async () => {
  const digest = await store.blobs.put(Buffer.of(1));
  const outcomes = await Promise.allSettled(
    ['1', '2', '3', '4'].map((batch, index) =>
      (index % 2 ? store : other).publishAdapter(at(7), { batchDigest: batch, digest, metrics: null }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(BatchConflictError);
  }
});

test('an adapter without its blob is not published', async () => {
  const adapter = { batchDigest: 'b', digest: digestOfNothing('f'), metrics: null };
  await expect(store.publishAdapter(at(20), adapter)).rejects.toThrow(BlobMissing);
  expect(await store.publishedAdapter(at(20))).toBeNull();
});

test('the latest adapter is the newest of its shard at or before the step', async () => {
  const digests = await Promise.all([0, 1, 2].map((weight) => store.blobs.put(Buffer.of(weight))));
  for (const [index, step] of [-1, 3, 9].entries()) {
    await store.publishAdapter(at(step, 5), {
      batchDigest: `${step}`,
      digest: digests[index]!,
      metrics: null,
    });
  }
  const latest = async (step: number) => (await store.latestAdapter(at(step, 5)))?.step;
  expect(await Promise.all([-2, -1, 2, 3, 8, 100].map(latest))).toEqual([undefined, -1, -1, 3, 3, 9]);
  expect(await store.latestAdapter(at(100, 6))).toBeNull();
});

const row: TrainingStepRow = {
  ...at(0),
  taskId: task.id,
  outcome: 'updated',
  success: 3,
  failure: 4,
  unscored: 1,
  meanJudgeScore: 1 / 3,
  adapterDigest: digestOfNothing('a'),
  batchDigest: digestOfNothing('b'),
  metrics,
  batch: { reward: 0.5, verifier: 0.05, deadShare: 0.25 },
  codeVersion: 'v1',
};

test('the first commit of a training step wins, also over a newer code version, which the run then lists', async () => {
  const committed = await Promise.all([store, other].map((each) => each.commitTrainingStep(row)));
  expect(committed).toEqual([row, row]);
  expect(await store.commitTrainingStep({ ...row, codeVersion: 'v2' })).toEqual(row);
  expect((await store.getRun(run.id)).codeVersions).toEqual(['v1', 'v2']);
  await expect(store.commitTrainingStep({ ...row, success: 4 })).rejects.toThrow(ContentConflict);
  expect(await store.trainingStep(at(0))).toEqual(row);
});

test('training steps come by shard and step, those without an update with nulls', async () => {
  const nulls = { meanJudgeScore: null, adapterDigest: null, batchDigest: null, metrics: null, batch: null };
  const idle: TrainingStepRow = { ...row, ...nulls, outcome: 'below_quorum' };
  const keys = [at(1, 1), at(0, 1), at(1)];
  for (const key of keys) await store.commitTrainingStep({ ...idle, ...key });
  await store.commitTrainingStep(row);
  const steps = await store.trainingSteps(run.id);
  expect(steps.map(({ shard, step }) => [shard, step])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  expect(steps[2]).toEqual({ ...idle, ...at(0, 1) });
  expect(await store.trainingStep(at(99))).toBeNull();
});

import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { Selection } from '../../bank-store/contract.ts';
import { ContentConflict, NotFound } from '../../bank-store/index.ts';
import { createStorePlace, digestOfNothing, rollout, run, task } from './fixtures.ts';

const { databaseUrl, openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);
const tasks = ['a', 'b', 'c'].map((name) => ({ ...task, id: `sandbox/mail/${name}` }));

beforeAll(async () => {
  await store.createRun(run);
  await store.registerTasks([task, ...tasks]);
  await store.openRollouts([0, 1, 2].map((index) => rollout(`r${index}`, { ownerId: 'task', index })));
});

const selection = (taskId: string): Selection => ({
  runId: run.id,
  taskId,
  bankDigest: digestOfNothing('b'),
  codeVersion: 'code-1',
  selected: 'r1',
  comparisons: [
    {
      incumbent: 'r0',
      challenger: 'r1',
      swap: true,
      votes: [
        { vote: 0, label: 'B' },
        { vote: 1, label: 'B' },
      ],
    },
    { incumbent: 'r1', challenger: 'r2', swap: false, votes: [] },
  ],
});

test('a task is decided once a run: a repeat changes nothing, another decision is refused', async () => {
  const decided = selection(tasks[0]!.id);
  await Promise.all([store, other].map((each) => each.saveSelection(decided)));
  await expect(store.saveSelection({ ...decided, selected: 'r0' })).rejects.toThrow(ContentConflict);
  const otherVote = decided.comparisons.map((each) => ({ ...each, votes: [] }));
  await expect(store.saveSelection({ ...decided, comparisons: otherVote })).rejects.toThrow(ContentConflict);
  expect(await store.selectionOf(run.id, tasks[0]!.id)).toEqual(decided);
});

test('a task without candidates is decided too, and told apart from one that is not', async () => {
  const none: Selection = {
    runId: run.id,
    taskId: tasks[1]!.id,
    bankDigest: null,
    codeVersion: 'code-1',
    selected: null,
    comparisons: [],
  };
  await store.saveSelection(none);
  expect(await store.selectionOf(run.id, tasks[1]!.id)).toEqual(none);
  expect(await store.selectionOf(run.id, tasks[2]!.id)).toBeNull();
  expect(await store.selections(run.id)).toContainEqual(none);
});

test('only a rollout that exists can be selected', async () => {
  await expect(store.saveSelection({ ...selection(tasks[2]!.id), selected: 'nobody' })).rejects.toThrow(
    NotFound,
  );
});

test('votes can be read with SQL, one row a vote', async () => {
  await store.saveSelection(selection(tasks[0]!.id));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'select comparison, challenger, vote, label from votes where task_id = $1',
    [tasks[0]!.id],
  );
  await client.end();
  expect(rows).toEqual([
    { comparison: 0, challenger: 'r1', vote: 0, label: 'B' },
    { comparison: 0, challenger: 'r1', vote: 1, label: 'B' },
  ]);
});

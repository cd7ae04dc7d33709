import { beforeAll, expect, test } from 'vitest';
import { digestOf } from '../../bank-store/canonical-json.ts';
import { ContentConflict, NotFound } from '../../bank-store/index.ts';
import { createStorePlace, run, task } from './fixtures.ts';

const { openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);
const tasks = Array.from({ length: 30 }, (_, index) => ({ ...task, id: `sandbox/mail/${index}` }));
const ids = tasks.map(({ id }) => id);

beforeAll(async () => {
  await store.createRun(run);
});

test('workers that register the same tasks at the same time all succeed', async () => {
  await Promise.all(
    [store, other].flatMap((each) => [each.registerTasks(tasks), each.registerTasks(tasks.toReversed())]),
  );
  expect(await store.getTask(ids[3]!)).toEqual(tasks[3]);
});

test('a task never changes: other content under its id is refused by name, and nothing of the call is kept', async () => {
  await store.registerTasks(tasks);
  const fresh = { ...task, id: 'sandbox/mail/fresh' };
  const failure = store.registerTasks([fresh, { ...tasks[4]!, split: 'heldout' }]);
  await expect(failure).rejects.toThrow(ContentConflict);
  await expect(failure).rejects.toThrow('"sandbox/mail/4"');
  await expect(store.getTask(fresh.id)).rejects.toThrow(NotFound);
  expect(await store.getTask(ids[4]!)).toEqual(tasks[4]);
});

test('a task list is pinned once: the same again gives its digest, another list or order is refused', async () => {
  await store.registerTasks(tasks);
  const digests = await Promise.all([store, other].map((each) => each.pinTaskList(run.id, ids)));
  expect(digests).toEqual([digestOf(ids), digestOf(ids)]);
  await expect(store.pinTaskList(run.id, ids.slice(1))).rejects.toThrow(ContentConflict);
  await expect(store.pinTaskList(run.id, ids.toReversed())).rejects.toThrow(ContentConflict);
  expect(await other.taskList(run.id)).toEqual(ids);
});

test('a list of unknown or repeated tasks is refused whole', async () => {
  await store.registerTasks(tasks);
  await store.createRun({ ...run, id: 'unpinned' });
  await expect(store.pinTaskList('unpinned', [ids[0]!, 'no/such/task'])).rejects.toThrow('no/such/task');
  await expect(store.pinTaskList('unpinned', [ids[0]!, ids[0]!])).rejects.toThrow('names a task twice');
  expect(await store.taskList('unpinned')).toEqual([]);
});

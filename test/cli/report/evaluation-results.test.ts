import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BankStore } from '../../../bank-store/contract.ts';
import { readTaskResults } from '../../../cli/report/evaluation-results.ts';
import { fabricateDemo, heldOut, openTestStore, type TestStore } from '../fabricated-runs.ts';

let place: TestStore;
beforeAll(async () => {
  place = await openTestStore();
  await fabricateDemo(place.store, 'demo-s1-1');
});
afterAll(() => place.close());

test('however many tasks an evaluation has, few questions at a time wait for a connection of the store', async () => {
  let [open, most] = [0, 0];
  const counted = async <T>(question: Promise<T>): Promise<T> => {
    open += 1;
    most = Math.max(most, open);
    return question.finally(() => {
      open -= 1;
    });
  };
  const store: BankStore = {
    ...place.store,
    getTask: (taskId) => counted(place.store.getTask(taskId)),
    rolloutsOf: (ownerId) => counted(place.store.rolloutsOf(ownerId)),
  };
  expect(heldOut.length).toBeGreaterThan(1);
  expect(await readTaskResults(store, 'demo-s1-1-clift')).toHaveLength(heldOut.length);
  expect(most).toBeLessThanOrEqual(2);
});

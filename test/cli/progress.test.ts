import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { showProgress } from '../../cli/progress.ts';
import { createStorePlace, run, type Store } from '../bank-store/fixtures.ts';
import { trainConfig } from '../support/run-config.ts';

test('progress of a run so long that counting it takes a while is looked at less often', async () => {
  const store = await (await createStorePlace()).openStore();
  const shown = await store.createRun({ ...run, config: trainConfig });
  let looks = 0;
  const slow: Store = {
    ...store,
    rolloutCounts: async (runId) => {
      looks += 1;
      await sleep(300);
      return store.rolloutCounts(runId);
    },
  };
  await showProgress(slow, shown, 'long', sleep(5_000));
  // One at the start and two at the end.
  expect(looks).toBeLessThanOrEqual(3);
});

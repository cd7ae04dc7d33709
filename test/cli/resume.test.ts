/** What `clift resume` asks of a run, on a real Temporal server with activities that answer as told. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { RunState } from '../../activities/contracts.ts';
import { continueRun } from '../../cli/commands/resume.ts';
import { requestPause } from '../../cli/run-control.ts';
import { type Place, startRun } from '../../cli/start-run.ts';
import { createStorePlace } from '../bank-store/fixtures.ts';
import { trainConfig } from '../support/run-config.ts';
import { settingsForHome } from '../support/settings.ts';
import { type House, openHouse, rolledOut } from '../workflows/scripted-house.ts';

let house: House;
let place: Place;
beforeAll(async () => {
  const store = await (await createStorePlace()).openStore();
  house = await openHouse(inject('temporalAddress'), 'resume');
  const chromium = { executablePath: '/chromium', kind: 'headless-shell', version: '1' } as const;
  place = { store, chromium, client: house.client, settings: settingsForHome('/nowhere') };
});
afterAll(() => house.close());

test('takes back a pause that still waits for what is under way', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const states: RunState[] = [];
  house.play({
    rollOut: async ({ rolloutId }) => {
      await held;
      return rolledOut(rolloutId);
    },
    setRunState: async ({ runId, state, reason }) => {
      states.push(state);
      await place.store.setRunState(runId, state, reason);
    },
  });
  const { run, handle } = await startRun(place, 'hesitant', { ...trainConfig, steps: 3 });
  while (!house.calls.includes('rollOut')) await new Promise((resolve) => setTimeout(resolve, 20));
  const { paused } = await requestPause(house.client, run, 'lunch');
  await continueRun(place, run.id);
  letGo();
  await paused;
  await handle?.result();
  expect(states).toEqual(['running', 'running', 'completed']);
});

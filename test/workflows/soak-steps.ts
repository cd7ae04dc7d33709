/** `npm run soak:steps`: 2,000 training steps on four shards. Exits with 1 when a budget is exceeded. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMachine } from '../../infra/bench/machine.ts';
import { startStack } from '../../infra/stack.ts';
import { settingsForHome } from '../support/settings.ts';
import { openHouse } from './scripted-house.ts';
import { findExcess, SOAKED_CACHE, soak } from './soak.ts';

const SHARDS = 4;
const STEPS = 500;

const home = mkdtempSync(join(tmpdir(), 'clift-soak-'));
const stack = await startStack(settingsForHome(home));
try {
  const house = await openHouse(stack.temporalAddress, 'soak', { maxCachedWorkflows: SOAKED_CACHE });
  house.play({});
  const report = await soak(house, 'soak', SHARDS, STEPS);
  await house.close();
  const { seconds, step, growth, shard, run, shardPerStep, residentMb } = report;
  console.log(`machine: ${describeMachine()}`);
  console.log(`${SHARDS * STEPS} training steps on ${SHARDS} shards in ${seconds.toFixed(0)} s`);
  console.log(
    `events: step ${step}, growth ${growth}, shard ${shard} (${shardPerStep.toFixed(1)} a step), run ${run}`,
  );
  console.log(`resident memory at each tenth, MB: ${residentMb.join(' ')}`);
  const excess = findExcess(report);
  for (const sentence of excess) console.log(`EXCESS: ${sentence}`);
  if (excess.length > 0) process.exitCode = 1;
} finally {
  await stack.stop();
  rmSync(home, { recursive: true, force: true });
}

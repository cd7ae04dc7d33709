/**
 * `npm run bench:demo`: how long a user waits. Runs the default demo in a fresh home with warm caches and prints the
 * time to the first finished rollout and to the report, with the machine. Exits with 1 when a goal is missed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBankStore } from '../../bank-store/index.ts';
import { childEnvironment, loadSettings, type Settings } from '../../workers/settings.ts';
import { ensureChromium } from '../chromium.ts';
import { homePaths } from '../home.ts';
import { startStack, stopStack } from '../stack.ts';
import { ensureTemporalCli } from '../temporal-cli.ts';
import { describeMachine } from './machine.ts';

const GOAL_FIRST_ROLLOUT_MS = 20_000;
const GOAL_DEMO_MS = 300_000;
const POLL_MS = 100;

const say = (line: string) => process.stderr.write(`${line}\n`);

const settings = loadSettings();
const home = mkdtempSync(join(tmpdir(), 'clift-bench-'));
const benched: Settings = { ...settings, home, blobDirectory: join(home, 'blobs') };
// Downloads are not what is measured.
await Promise.all([ensureChromium(settings, say), ensureTemporalCli(settings, say)]);
try {
  const began = performance.now();
  const demo = spawn(process.execPath, ['cli/main.ts', 'demo'], {
    cwd: settings.projectDirectory,
    env: childEnvironment({ CLIFT_HOME: home, CLIFT_CACHE: settings.cacheDirectory }),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const firstRolloutMs = (await firstRollout(demo)) - began;
  if (demo.exitCode === null) await once(demo, 'exit');
  const demoMs = performance.now() - began;
  if (demo.exitCode !== 0) throw new Error(`the demo ended with code ${demo.exitCode}`);
  console.log(`machine: ${describeMachine()}`);
  const goals = [
    reportGoal('warm start to the first finished rollout', firstRolloutMs, GOAL_FIRST_ROLLOUT_MS),
    reportGoal('the whole default demo', demoMs, GOAL_DEMO_MS),
  ];
  if (goals.includes(false)) process.exitCode = 1;
} finally {
  await stopStack(benched);
  rmSync(home, { recursive: true, force: true });
}

/** When the first rollout was finished, on the clock of `performance.now`. */
async function firstRollout(demo: ChildProcess): Promise<number> {
  while (!existsSync(homePaths(home).postgresRecord)) await pause(demo);
  // Waits for the demo's own start; the servers are then found, not started.
  const store = await createBankStore(await startStack(benched));
  try {
    for (;;) {
      for (const { id } of await store.listRuns()) {
        const { success, failure, unscored } = await store.rolloutCounts(id);
        if (success + failure + unscored > 0) return performance.now();
      }
      await pause(demo);
    }
  } finally {
    await store.close();
  }
}

async function pause(demo: ChildProcess): Promise<void> {
  if (demo.exitCode !== null) throw new Error('the demo ended before its first rollout');
  await sleep(POLL_MS);
}

function reportGoal(what: string, measuredMs: number, goalMs: number): boolean {
  const met = measuredMs <= goalMs;
  const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  console.log(`${what}: ${inSeconds(measuredMs)} (goal ${inSeconds(goalMs)}): ${met ? 'met' : 'MISSED'}`);
  return met;
}

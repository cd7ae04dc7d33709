/**
 * `npm run bench:journal`: what the journal adds to a model call. One run, 16 calls of 200 ms in flight, with and
 * without the journal in turns, on a database of its own. Exits with 1 when a goal is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBankStore } from '../../bank-store/index.ts';
import { loadSettings } from '../../workers/settings.ts';
import { startDatabase, stopStack } from '../stack.ts';
import { describeMachine } from './machine.ts';

const CALL_MS = 200;
const IN_FLIGHT = 16;
const CALLS_A_ROUND = 96;
const ROUNDS = 8;

const GOAL_LONGER = 0.15;
const GOAL_MEDIAN_MS = 5;

type Call = (ordinal: number) => Promise<unknown>;

/** What one arm took: each call, and the rounds in all. */
interface Measured {
  readonly callMs: number[];
  totalMs: number;
}

const newArm = (): Measured => ({ callMs: [], totalMs: 0 });

async function playRound(arm: Measured, firstOrdinal: number, call: Call): Promise<void> {
  const ordinals = Array.from({ length: CALLS_A_ROUND }, (_, index) => firstOrdinal + index);
  const lane = async (index: number): Promise<void> => {
    // Calls in life do not begin in step; in step they would queue for each other, sixteen at a time.
    await sleep((index / IN_FLIGHT) * CALL_MS);
    for (let ordinal = ordinals.shift(); ordinal !== undefined; ordinal = ordinals.shift()) {
      const began = performance.now();
      await call(ordinal);
      arm.callMs.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => lane(index)));
  arm.totalMs += performance.now() - began;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** A page of the size that policies see, and a decision of theirs. */
const page = 'An element with a name and a value. '.repeat(800);
const reply = {
  action: { tool: 'click', ref: 'e12' },
  logProbs: Array.from({ length: 60 }, () => -0.1234567),
};

async function ask() {
  await sleep(CALL_MS);
  const usage = { inputTokens: 8_000, outputTokens: 60 };
  return { reply, cost: { usage, costUsd: 0.0415 }, model: 'bench' };
}

const home = mkdtempSync(join(tmpdir(), 'clift-bench-'));
const { databaseUrl: _elsewhere, ...settings } = loadSettings();
const place = { ...settings, home, blobDirectory: join(home, 'blobs') };
const database = await startDatabase(place);
const store = await createBankStore(database);
try {
  const runId = 'bench';
  await store.createRun({
    id: runId,
    kind: 'train',
    seed: 1,
    identity: {},
    config: {},
    codeVersion: 'bench',
  });
  const journalled: Call = (ordinal) =>
    store.callOnce({ runId, purpose: 'policy', owner: 'bench', ordinal }, { page, ordinal }, ask);

  await playRound(newArm(), 0, journalled);
  const [bare, withJournal] = [newArm(), newArm()];
  for (let round = 1; round <= ROUNDS; round += 1) {
    await playRound(bare, 0, ask);
    await playRound(withJournal, round * CALLS_A_ROUND, journalled);
  }
  const longer = withJournal.totalMs / bare.totalMs - 1;
  const medianMs = quantile(withJournal.callMs, 0.5) - quantile(bare.callMs, 0.5);
  const p95Ms = quantile(withJournal.callMs, 0.95) - quantile(bare.callMs, 0.95);
  const isMet = longer <= GOAL_LONGER && medianMs <= GOAL_MEDIAN_MS;
  console.log(`machine: ${describeMachine()}`);
  console.log(
    `${isMet ? 'met   ' : 'MISSED'}  ${ROUNDS * CALLS_A_ROUND} calls of ${CALL_MS} ms, ${IN_FLIGHT} in flight: ` +
      `${(100 * longer).toFixed(1)} % longer with the journal (goal: at most ${100 * GOAL_LONGER} %), ` +
      `${medianMs.toFixed(1)} ms more at the median (goal: at most ${GOAL_MEDIAN_MS} ms), ` +
      `${p95Ms.toFixed(1)} ms at the 95th percentile`,
  );
  process.exitCode = isMet ? 0 : 1;
} finally {
  await store.close();
  await stopStack(place);
  rmSync(home, { recursive: true, force: true });
}

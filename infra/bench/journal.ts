/**
 * `npm run bench:journal`: what the journal adds to a model call. One run, 16 calls of 200 ms in flight, with and
 * without the journal in turns, on a database of its own. Each round is compared with the one beside it, so that a
 * machine that is busy for a while is busy for both. Exits with 1 when a goal is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createBankStore } from '../../bank-store/index.ts';
import { loadSettings } from '../../workers/settings.ts';
import { startDatabase, stopStack } from '../stack.ts';
import { describeMachine } from './machine.ts';
import { quantile } from './numbers.ts';

const CALL_MS = 200;
const IN_FLIGHT = 16;
const CALLS_A_ROUND = 96;
const ROUNDS = 12;

const GOAL_LONGER = 0.15;
const GOAL_MEDIAN_MS = 5;

type Call = (ordinal: number) => Promise<unknown>;

/** What one round took: each call, and all of them. */
interface Round {
  readonly callMs: readonly number[];
  readonly totalMs: number;
}

async function playRound(firstOrdinal: number, call: Call): Promise<Round> {
  const ordinals = Array.from({ length: CALLS_A_ROUND }, (_, index) => firstOrdinal + index);
  const callMs: number[] = [];
  const lane = async (index: number): Promise<void> => {
    // Calls in life do not begin in step; in step they would queue for each other, sixteen at a time.
    await sleep((index / IN_FLIGHT) * CALL_MS);
    for (let ordinal = ordinals.shift(); ordinal !== undefined; ordinal = ordinals.shift()) {
      const began = performance.now();
      await call(ordinal);
      callMs.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => lane(index)));
  return { callMs, totalMs: performance.now() - began };
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

/** What is added to a bare call: by the journal, or by the one flushed commit that no journal can do without. */
interface Difference {
  /** Share by which the round with the journal took longer. */
  readonly longer: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

function difference(added: Round, bare: Round): Difference {
  const between = (share: number) => quantile(added.callMs, share) - quantile(bare.callMs, share);
  return { longer: added.totalMs / bare.totalMs - 1, medianMs: between(0.5), p95Ms: between(0.95) };
}

/** Median over the rounds, and in brackets the least and the most. */
function spread(values: readonly number[], unit: string): string {
  const [low, middle, high] = [0, 0.5, 1].map((share) => quantile(values, share).toFixed(1));
  return `${middle} ${unit} [${low}, ${high}]`;
}

const home = mkdtempSync(join(tmpdir(), 'clift-bench-'));
const { databaseUrl: _elsewhere, ...settings } = loadSettings();
const place = { ...settings, home, blobDirectory: join(home, 'blobs') };
const database = await startDatabase(place);
const store = await createBankStore(database);
const pool = new pg.Pool({ connectionString: database.databaseUrl, max: 10 });
try {
  const runId = 'bench';
  await store.createRun({
    ...{ id: runId, kind: 'train', seed: 1, identity: {}, config: {}, codeVersion: 'bench' },
  });
  await pool.query('create table flushed (reply text)');
  const journalled: Call = (ordinal) =>
    store.callOnce({ runId, purpose: 'policy', owner: 'bench', ordinal }, { page, ordinal }, ask);
  const flushed: Call = async () => {
    const { reply: said } = await ask();
    const values = [JSON.stringify(said)];
    await pool.query({ name: 'flush', text: 'insert into flushed values ($1)', values });
  };

  await playRound(0, journalled);
  const journal: Difference[] = [];
  const flush: Difference[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await playRound(0, ask);
    journal.push(difference(await playRound(round * CALLS_A_ROUND, journalled), bare));
    flush.push(difference(await playRound(0, flushed), bare));
  }
  process.exitCode = report(journal, flush) ? 0 : 1;
} finally {
  await pool.end();
  await store.close();
  await stopStack(place);
  rmSync(home, { recursive: true, force: true });
}

function report(journal: readonly Difference[], flush: readonly Difference[]): boolean {
  const longer = journal.map((round) => 100 * round.longer);
  const medianMs = journal.map((round) => round.medianMs);
  const isMet = quantile(longer, 0.5) <= 100 * GOAL_LONGER && quantile(medianMs, 0.5) <= GOAL_MEDIAN_MS;
  const lines = [
    `machine: ${describeMachine()}, load ${loadavg()[0]?.toFixed(1)}`,
    `${ROUNDS} × ${CALLS_A_ROUND} calls of ${CALL_MS} ms, ${IN_FLIGHT} in flight, with the journal and without; ` +
      'medians over the rounds [least, most]',
    `all calls of a round: ${spread(longer, '%')} longer (goal: at most ${100 * GOAL_LONGER} %)`,
    `the median call: ${spread(medianMs, 'ms')} longer (goal: at most ${GOAL_MEDIAN_MS} ms)`,
    `the 95th percentile: ${spread(
      journal.map((round) => round.p95Ms),
      'ms',
    )} longer`,
    `one flushed commit in the journal's place: ${spread(
      flush.map((round) => round.medianMs),
      'ms',
    )} longer at the median`,
    isMet ? 'met' : 'MISSED',
  ];
  console.log(lines.join('\n'));
  return isMet;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { BankStore, Run } from '../../bank-store/contract.ts';
import type { Settings } from '../../workers/settings.ts';
import { findRun } from '../find.ts';
import { describePaused } from '../follow.ts';
import { jsonLine } from '../report/terminal-text.ts';
import { requestPause } from '../run-control.ts';
import { type ControlRoom, withControlRoom } from '../workplace.ts';

interface Options {
  readonly reason: string;
  /** Seconds. */
  readonly wait: number;
  readonly json?: boolean;
}

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Lets a run finish the training steps or tasks under way and stops it there; the request outlives this command. */
export async function pause(settings: Settings, runId: string, options: Options): Promise<void> {
  const run = await withControlRoom(settings, say, (room) => pauseRun(room, runId, options));
  if (run.state === 'running') process.exitCode = 1;
  const { id, state, stateReason } = run;
  console.log(options.json ? jsonLine({ id, state, stateReason }) : describe(run));
}

async function pauseRun({ store, client }: ControlRoom, runId: string, options: Options): Promise<Run> {
  const run = await findRun(store, runId);
  if (run.state !== 'running') return run;
  const { paused } = await requestPause(client, run, options.reason);
  await waitForPause(store, run, paused, options.wait);
  return store.getRun(runId);
}

const SAY_EVERY_MS = 15_000;

async function waitForPause(
  store: BankStore,
  { id }: Run,
  paused: Promise<void>,
  waitS: number,
): Promise<void> {
  const deadline = Date.now() + 1_000 * waitS;
  const over = paused.then(() => true);
  for (let isOver = false; !isOver && Date.now() < deadline; ) {
    const { open } = await store.rolloutCounts(id);
    say(`waiting for what is under way: ${open} open rollouts. Ctrl-C leaves the request standing.`);
    isOver = await Promise.race([over, sleep(Math.min(SAY_EVERY_MS, deadline - Date.now()), false)]);
  }
}

function describe(run: Run): string {
  const { id, state, stateReason } = run;
  if (state === 'paused') return describePaused(run);
  if (state !== 'running') return `${id} is ${state}: ${stateReason}`;
  return `${id} is not paused yet; it stops by itself when what is under way has ended. \`clift runs\` shows its state.`;
}

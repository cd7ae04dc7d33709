import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBankStore, StoreUnavailable } from '../../bank-store/index.ts';
import { createHome } from '../../infra/home.ts';
import { startPostgresServer, stopPostgresServer } from '../../infra/postgres-server.ts';
import { readServerRecord } from '../../infra/processes.ts';
import type { Tracker } from '../../workflows/method/types.ts';
import { settingsForHome } from '../support/settings.ts';
import { certificate, rollout, run, type Store, stepAt, task, tracker } from './fixtures.ts';

/** A server of this file's own: it is killed while others write. */
const home = await mkdtemp(join(tmpdir(), 'clift-crash-'));
// PostgreSQL may run as another user, who has to get there.
await chmod(home, 0o755);
const paths = createHome(settingsForHome(home));
let store: Store;

beforeAll(async () => {
  const { databaseUrl } = await startPostgresServer(home);
  store = await createBankStore({ databaseUrl, blobDirectory: join(home, 'blobs') });
  await store.createRun(run);
  await store.registerTasks([task]);
});
afterAll(async () => {
  await store.close();
  await stopPostgresServer(home);
  await rm(home, { recursive: true });
});

/** Works until the server is gone; counts how often it was told that the work is done. */
class Writer {
  acknowledged = 0;
  readonly ended: Promise<void>;

  constructor(work: (turn: number) => Promise<unknown>) {
    this.ended = this.#untilUnavailable(work);
  }

  async #untilUnavailable(work: (turn: number) => Promise<unknown>): Promise<void> {
    try {
      for (;;) {
        await work(this.acknowledged);
        this.acknowledged += 1;
      }
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
    }
  }
}

const CELLS = 40;
const countAll = (before: readonly Tracker[]) => {
  const n = (before[0]?.n ?? 0) + 1;
  const names = Array.from({ length: CELLS }, (_, index) => `q${String(index).padStart(2, '0')}`);
  return {
    trackers: names.map((qid) => tracker(qid, n)),
    certificates: names.map((qid) => certificate(qid, n)),
  };
};

test('killed while it writes, the database keeps whatever was acknowledged and nothing by halves', async () => {
  await store.openRollouts([rollout('crashed')]);
  const { fence } = await store.claimAttempt('crashed', 'w');
  const reply = (turn: number) => ({ turn, text: 'x'.repeat(turn % 2 ? 10 : 5_000) });
  const call = (turn: number) =>
    ({ runId: run.id, purpose: 'judge', owner: 'crashed', ordinal: turn }) as const;
  const execute = (turn: number) => async () => ({
    reply: reply(turn),
    cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 },
    model: 'm',
  });

  const writers = [
    new Writer((turn) => store.recordStep('crashed', fence, stepAt(turn))),
    new Writer((turn) => store.certifyStep({ runId: run.id, shard: 0, step: turn }, countAll)),
    new Writer((turn) => store.callOnce(call(turn), turn, execute(turn))),
  ];
  // The victim is killed in the middle of its work, however slow the machine is.
  while (writers.some(({ acknowledged }) => acknowledged < 4)) await sleep(20);
  const postmaster = readServerRecord(paths.postgresRecord);
  process.kill(postmaster!.pid, 'SIGKILL');
  await Promise.all(writers.map(({ ended }) => ended));
  const [steps = 0, certified = 0, calls = 0] = writers.map(({ acknowledged }) => acknowledged);
  await startPostgresServer(home);

  // What was in flight may or may not have been committed; what was acknowledged has been.
  const recorded = (await store.getRollout('crashed')).steps;
  expect(recorded).toEqual(Array.from({ length: recorded.length }, (_, index) => stepAt(index)));
  expect([steps, steps + 1]).toContain(recorded.length);

  const trackers = await store.trackers(run.id, 0);
  const rounds = trackers[0]?.n ?? 0;
  expect([certified, certified + 1]).toContain(rounds);
  expect(trackers.map(({ n }) => n)).toEqual(Array(CELLS).fill(rounds));
  const { certificates } = await store.snapshotAt({ runId: run.id, shard: 0, step: 1_000_000 });
  expect(certificates.map(({ n }) => n)).toEqual(Array(CELLS).fill(rounds));

  const never = () => Promise.reject(new Error('paid twice'));
  for (let turn = 0; turn < calls; turn += 1) {
    expect(await store.callOnce(call(turn), turn, never)).toEqual(reply(turn));
  }

  // Each writer goes on where it was.
  await store.recordStep('crashed', fence, stepAt(recorded.length));
  expect(await store.certifyStep({ runId: run.id, shard: 0, step: rounds - 1 }, countAll)).toBe(false);
  expect(await store.certifyStep({ runId: run.id, shard: 0, step: rounds }, countAll)).toBe(true);
});

test('a reply that was paid for while the database restarts is not lost', async () => {
  const call = { runId: run.id, purpose: 'grader', owner: 'restart', ordinal: 0 } as const;
  let executions = 0;
  let restarted: Promise<unknown> | undefined;
  const reply = await store.callOnce(call, 1, async () => {
    executions += 1;
    await stopPostgresServer(home);
    restarted = startPostgresServer(home);
    return { reply: 'paid', cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 }, model: 'm' };
  });
  await restarted;
  expect(reply).toBe('paid');
  expect(await store.callOnce(call, 1, () => Promise.reject(new Error('paid twice')))).toBe('paid');
  expect(executions).toBe(1);
  expect(await store.callsOf(run.id, 'restart')).toMatchObject([{ executions: 1, replies: 1, costUsd: 1 }]);
});

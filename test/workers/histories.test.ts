/** Histories from a real server to the blob store and back through the workflow code. */
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type BankStore, createBankStore } from '../../bank-store/index.ts';
import { codeVersion } from '../../workers/code-version.ts';
import { HistoryExporter } from '../../workers/history-exporter.ts';
import { replayStored } from '../../workers/replay-histories.ts';
import { taskQueues, trainRunId } from '../../workflows/names.ts';
import { startTraining } from '../activities/bank/training-scene.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { committedPlan, type House, openHouse } from '../workflows/scripted-house.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const blobDirectory = mkdtempSync(join(tmpdir(), 'clift-histories-'));
const runId = 'exported';

let database: TestDatabase;
let store: BankStore & { close(): Promise<void> };
let house: House;
beforeAll(async () => {
  database = await createTestDatabase(async (databaseUrl) => {
    await (await createBankStore({ databaseUrl, blobDirectory })).close();
  });
  store = await createBankStore({ databaseUrl: database.databaseUrl, blobDirectory });
  house = await openHouse(inject('temporalAddress'), 'histories', { buildId: codeVersion(project) });
  house.play({ planTrainingStep: committedPlan });
  await startTraining(store, runId);
  // A run of another database in the same namespace.
  for (const id of [runId, 'foreign']) {
    await house.client.workflow.execute('trainRunWorkflow', {
      ...{ taskQueue: taskQueues.orchestrator, workflowId: trainRunId(id) },
      args: [{ runId: id, shards: 1, steps: 2, growEverySteps: null }],
    });
  }
});
afterAll(async () => {
  await house.close();
  await store.close();
  await database.drop();
  rmSync(blobDirectory, { recursive: true });
});

const exported = async () => (await store.historiesOf(runId)).map(({ workflowId }) => workflowId).sort();
const all = ['', '/shard/0', '/shard/0/step/0', '/shard/0/step/1'].map((end) => trainRunId(runId) + end);

/** As a worker's exporter does it, whose server's list of closed workflows lags behind. */
async function sweepUntilAllAreThere(): Promise<void> {
  const exporter = new HistoryExporter(house.client, store);
  do await exporter.sweep();
  while ((await exported()).length < all.length);
  await exporter.stop();
}

const replay = async () => replayStored(project, store.blobs, await store.historiesOf(runId));

describe('the exporter', () => {
  test('copies every closed workflow of its own runs, once however often it looks', async () => {
    await sweepUntilAllAreThere();
    await sweepUntilAllAreThere();
    expect(await exported()).toEqual(all);
    const [first] = await store.historiesOf(runId);
    expect(first).toMatchObject({
      ...{ workflowType: 'trainStepWorkflow', status: 'completed' },
      codeVersions: [codeVersion(project)],
    });
    expect(first?.events).toBeGreaterThan(8);
  });
});

describe('a history that cannot be had', () => {
  const otherRun = 'partly-lost';
  const idOf = (end: string) => trainRunId(otherRun) + end;
  const exportedOf = async () => (await store.historiesOf(otherRun)).map(({ workflowId }) => workflowId);

  /** A client for which the history of the first step fails. */
  function clientWhere(fetchFails: () => Error): Client {
    const workflow = new Proxy(house.client.workflow, {
      get: (target, name) =>
        name === 'getHandle'
          ? (workflowId: string, executionId: string) => {
              const handle = target.getHandle(workflowId, executionId);
              return workflowId === idOf('/shard/0/step/0')
                ? { ...handle, fetchHistory: () => Promise.reject(fetchFails()) }
                : handle;
            }
          : Reflect.get(target, name, target),
    });
    return new Proxy(house.client, {
      get: (target, name) => (name === 'workflow' ? workflow : Reflect.get(target, name, target)),
    });
  }

  async function listed(): Promise<number> {
    let count = 0;
    for await (const { workflowId, status } of house.client.workflow.list())
      if (workflowId.startsWith(idOf('')) && status.name !== 'RUNNING') count += 1;
    return count;
  }

  beforeAll(async () => {
    await startTraining(store, otherRun);
    await house.client.workflow.execute('trainRunWorkflow', {
      ...{ taskQueue: taskQueues.orchestrator, workflowId: trainRunId(otherRun) },
      args: [{ runId: otherRun, shards: 1, steps: 2, growEverySteps: null }],
    });
    while ((await listed()) < 4) await sleep(100);
  });

  test('because the store is away is never given up', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const put = vi.fn(() => Promise.reject(new Error('the disk is full')));
    const exporter = new HistoryExporter(house.client, { ...store, blobs: { ...store.blobs, put } });
    while (put.mock.calls.length < 45) await exporter.sweep();
    await exporter.stop();
    expect(said.mock.calls.flat().filter((line) => String(line).includes('given up'))).toEqual([]);
    expect(await exportedOf()).toEqual([]);
  });

  test('because the server fails is waited for, and does not bar the others for ever', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const asked = vi.fn(() => new Error('the server hiccups'));
    const exporter = new HistoryExporter(clientWhere(asked), store);
    while (asked.mock.calls.length < 19) {
      await exporter.sweep();
      // What closed later waits: a worker that ends now must leave its gap at the end.
      expect(await exportedOf()).toEqual([]);
    }
    await exporter.stop();
    expect((await exportedOf()).sort()).toEqual(['', '/shard/0', '/shard/0/step/1'].map(idOf));
    expect(said.mock.calls.flat().filter((line) => String(line).includes('given up'))).toEqual([
      `the history of ${idOf('/shard/0/step/0')} is given up: Error: the server hiccups`,
    ]);
  });
});

describe('a replay', () => {
  test('of what this code recorded agrees with it', async () => {
    expect(await replay()).toEqual(
      all.map(() => expect.objectContaining({ verdict: 'replays', detail: '' })),
    );
  });

  test('tells a history that was changed from one that other code recorded', async () => {
    const [step] = await store.historiesOf(runId);
    if (step === undefined) throw new Error('no history was exported');
    const text = (await promisify(gunzip)(await store.blobs.get(step.digest))).toString();
    const forged = text.replaceAll('planTrainingStep', 'planNothing');
    expect(forged).not.toBe(text);
    const digest = await store.blobs.put(await promisify(gzip)(forged));
    const [here] = await replayStored(project, store.blobs, [{ ...step, digest }]);
    expect(here).toMatchObject({ verdict: 'differs', detail: expect.stringContaining('planNothing') });
    const codeVersions = [...step.codeVersions, 'src-of-last-week'];
    const [elsewhere] = await replayStored(project, store.blobs, [{ ...step, digest, codeVersions }]);
    expect(elsewhere).toMatchObject({
      verdict: 'other_version',
      detail: expect.stringContaining('src-of-last-week'),
    });
  });

  test('finds bytes that are not what was exported, or not there', async () => {
    const [step] = await store.historiesOf(runId);
    const digest = step?.digest ?? '';
    const missing = 'a'.repeat(64);
    await writeFile(join(blobDirectory, digest.slice(0, 2), digest.slice(2, 4), digest), 'something else');
    const verdicts = await replayStored(project, store.blobs, [
      ...(await store.historiesOf(runId)).slice(0, 1),
      ...(await store.historiesOf(runId)).slice(1, 2).map((one) => ({ ...one, digest: missing })),
    ]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['altered', 'missing']);
  });
});

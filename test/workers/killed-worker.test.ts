/**
 * Invariant 2 against real processes: a real worker, a real Temporal server and database, and a model server that
 * counts what arrives. The worker dies by SIGKILL while one group's reply is journalled but not used, and while
 * another group's call is on its way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { trainConfigSchema } from '../../activities/run-config.ts';
import { createBankStore } from '../../bank-store/index.ts';
import { taskQueues } from '../../workflows/names.ts';
import { playGroup, startTraining, type Training } from '../activities/bank/training-scene.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Behaviour, type ModelServer, startModelServer } from '../support/model-server/server.ts';
import { createNamespace } from '../workflows/scripted-house.ts';

const namespace = 'killed-worker';
const home = mkdtempSync(join(tmpdir(), 'clift-killed-'));
const inn = 'http://mail.sandbox/inbox';
const project = fileURLToPath(new URL('../..', import.meta.url));

let database: TestDatabase;
let store: Awaited<ReturnType<typeof createBankStore>>;
let training: Training;
let server: ModelServer;
let client: Client;
let orchestrator: Worker;
let running: Promise<void>;
const connections: { close(): Promise<void> }[] = [];
const workers: ChildProcess[] = [];

/** What the server does with the calls of a group, in the order of their arrival; the last holds for all later. */
const behaviours = new Map<string, Behaviour[]>();
/** When the calls of a group arrived. */
const arrivals = new Map<string, number[]>();

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const place = { blobDirectory: join(home, 'blobs') };
  database = await createTestDatabase(async (databaseUrl) => {
    await (await createBankStore({ databaseUrl, ...place })).close();
  });
  store = await createBankStore({ databaseUrl: database.databaseUrl, ...place });
  server = await startModelServer(({ prompt }) => {
    const group = /group (\w+)/.exec(prompt)?.[1] ?? 'none';
    arrivals.set(group, [...(arrivals.get(group) ?? []), performance.now()]);
    const [next, ...later] = behaviours.get(group) ?? [];
    if (later.length > 0) behaviours.set(group, later);
    return next ?? { kind: 'status', status: 404 };
  });
  await openRun();
  await openTemporal();
});

async function openRun(): Promise<void> {
  training = await startTraining(store, 'killed', { steps: 5 });
  await configure(null);
}

/** What the command does each time that it is started: the ceiling may be another one. */
async function configure(usdPerRun: number | null): Promise<void> {
  const judge = {
    ...{ provider: 'anthropic', model: 'claude-opus-4-6', baseUrl: server.origin },
    // Every reply has as many tokens as it may have: the calls cost what they may cost.
    maxOutputTokens: 7,
    price: { inputUsdPerMillion: 0, outputUsdPerMillion: 1e6 },
  };
  const config = trainConfigSchema.parse({
    ...training.config,
    models: { judge },
    ceilings: { usdPerRun },
  });
  const { id, kind, seed, identity, codeVersion } = await store.getRun(training.runId);
  await store.createRun({ id, kind, seed, identity, codeVersion, config });
}

async function openTemporal(): Promise<void> {
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  const nativeConnection = await NativeConnection.connect({ address });
  connections.push(connection, nativeConnection);
  await createNamespace(connection, namespace);
  client = new Client({ connection, namespace });
  orchestrator = await Worker.create({
    ...{ connection: nativeConnection, namespace, taskQueue: taskQueues.orchestrator },
    workflowsPath: fileURLToPath(new URL('./judge-workflow.ts', import.meta.url)),
  });
  running = orchestrator.run();
}

afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  orchestrator.shutdown();
  await running;
  for (const connection of connections) await connection.close();
  await server.close();
  await store.close();
  await database.drop();
  rmSync(home, { recursive: true });
});

async function startWorker(): Promise<ChildProcess> {
  const worker = spawn(process.execPath, ['workers/worker.ts', 'judge'], {
    cwd: project,
    env: {
      CLIFT_HOME: home,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: database.databaseUrl,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  workers.push(worker);
  await once(worker, 'message');
  return worker;
}

/** A group of one rollout of one step, whose answer names it in the judge's prompt. */
async function judge(step: number, name: string, ...behaviour: Behaviour[]): Promise<WorkflowHandle> {
  behaviours.set(name, behaviour);
  await playGroup(training, step, [{ urls: [inn, inn], answer: `group ${name}` }]);
  return startJudging(step, name);
}

function startJudging(step: number, workflowId: string): Promise<WorkflowHandle> {
  return client.workflow.start('judgeWorkflow', {
    ...{ taskQueue: taskQueues.orchestrator, workflowId },
    args: [{ runId: training.runId, groupId: training.groupId(step) }],
  });
}

const judgement: Behaviour = {
  kind: 'reply',
  reply: {
    text: JSON.stringify({ attempts: [{ attempt: 1, score: 0.75, stepScores: [0.5], rationale: 'good' }] }),
  },
};

const callsOf = (step: number) => store.callsOf(training.runId, training.groupId(step));
const arrived = (name: string) => arrivals.get(name) ?? [];

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50);
}

describe('calls that are paid', () => {
  test('are not repeated when the worker dies between reply and use; one in flight is, once', async () => {
    const victim = await startWorker();
    // Whoever wants to use a judgement has to wait.
    const blocker = new pg.Client({ connectionString: database.databaseUrl });
    await blocker.connect();
    await blocker.query('begin; lock table judgements in access exclusive mode');

    const replied = await judge(0, 'replied', judgement);
    const inFlight = await judge(1, 'flying', { kind: 'hang' }, judgement);
    await until(async () => (await isBlocked(blocker)) && arrived('flying').length === 1);
    expect(await callsOf(0)).toMatchObject([{ state: 'done' }]);
    victim.kill('SIGKILL');
    expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
    await blocker.query('rollback');
    await blocker.end();
    expect(await store.judgementsOf(training.groupId(0))).toEqual([]);

    await startWorker();
    const results = await Promise.all([replied.result(), inFlight.result()]);
    expect(results).toEqual([
      { ok: true, judged: 1, meanScore: 0.75 },
      { ok: true, judged: 1, meanScore: 0.75 },
    ]);
    expect(arrived('replied')).toHaveLength(1);
    expect(arrived('flying')).toHaveLength(2);
    expect(await callsOf(0)).toMatchObject([{ executions: 1, replies: 1 }]);
    expect(await callsOf(1)).toMatchObject([{ executions: 2, replies: 1 }]);
    expect(await store.judgementsOf(training.groupId(0))).toMatchObject([{ score: 0.75 }]);
  }, 180_000);

  test('are as many as the attempts of the activity: retries have one layer', async () => {
    const error: Behaviour = { kind: 'status', status: 500 };
    const pauseMs = 3_000;
    const limited: Behaviour = {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': String(pauseMs / 1000) },
    };
    const stormy = await judge(2, 'stormy', error, error, limited, judgement);
    await stormy.result();
    expect(arrived('stormy')).toHaveLength(4);
    expect(await attemptsOf(stormy)).toBe(4);
    expect(await callsOf(2)).toMatchObject([{ executions: 4, replies: 1, costUsd: 7 }]);
    const [third = 0, fourth = 0] = arrived('stormy').slice(2);
    expect(fourth - third).toBeGreaterThanOrEqual(pauseMs);
  }, 240_000);

  test('end with the first refusal of a key', async () => {
    const refused = await judge(3, 'refused', { kind: 'status', status: 401 });
    await expect(refused.result()).rejects.toThrow();
    expect(arrived('refused')).toHaveLength(1);
  });

  test('are none beyond the ceiling, until it is raised', async () => {
    const spent = (await store.costs(training.runId)).reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    expect(spent).toBe(21);
    await configure(spent);
    const stopped = await judge(4, 'stopped', judgement);
    await expect(stopped.result()).rejects.toMatchObject({
      cause: { cause: { type: 'BudgetExceeded', message: expect.stringContaining('$21.00 of $21.00') } },
    });
    expect(arrived('stopped')).toEqual([]);
    await configure(spent + 7);
    expect(await (await startJudging(4, 'raised')).result()).toMatchObject({ ok: true });
    // Its prompt still has the name that the group was played under.
    expect(arrived('stopped')).toHaveLength(1);
  });
});

/** Somebody waits for a lock: the reply is there, and is about to be used. */
async function isBlocked(admin: pg.Client): Promise<boolean> {
  const { rowCount } = await admin.query(
    `select from pg_locks where not granted and relation = 'judgements'::regclass`,
  );
  return rowCount === 1;
}

/** Of the workflow's one activity, as its history counts them. */
async function attemptsOf(handle: WorkflowHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  const started = events?.flatMap((event) => event.activityTaskStartedEventAttributes ?? []);
  return started?.at(-1)?.attempt ?? 0;
}

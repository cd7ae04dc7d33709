/**
 * `npm run bench:durability`: what durable execution adds to an evaluation. The same tasks, in turns: as workflows
 * through Temporal, and in a plain loop that calls the same functions and writes the same rows; once on pages as heavy
 * as WebArena-Infinity's, once on light ones. The policy takes no time. Exits with 1 when the goal is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { planEvaluationTask, recordSelection } from '../../activities/bank/evaluation.ts';
import { createCpuActivities } from '../../activities/bank/index.ts';
import { createBrowserActivities } from '../../activities/browser/index.ts';
import type { BrowserParts } from '../../activities/browser/parts.ts';
import { PolicyCache } from '../../activities/browser/policy-cache.ts';
import { BrowserPool } from '../../activities/browser/pool.ts';
import { rollOut } from '../../activities/browser/roll-out.ts';
import { evaluateConfigSchema } from '../../activities/run-config.ts';
import { createBankStore } from '../../bank-store/index.ts';
import type { Benchmark } from '../../benchmarks/contract.ts';
import { loadSettings, type Settings } from '../../workers/settings.ts';
import type { evaluateSuiteWorkflow } from '../../workflows/evaluate-suite.ts';
import { evaluateSuiteId, evaluateTaskId, rolloutId, taskQueues } from '../../workflows/names.ts';
import { ensureChromium } from '../chromium.ts';
import * as processes from '../processes.ts';
import { startStack, stopStack } from '../stack.ts';
import { pagesBenchmark, STEPS } from './durability/pages.ts';
import { instantPolicy } from './durability/policy.ts';
import { describeMachine } from './machine.ts';

const TASKS = 8;
const ROUNDS = 3;
const CONCURRENCY = 4;
const GOAL = 0.1;

/** 400 controls and about 30 KB of tree; and a page like the sandbox's. */
const heavy = pagesBenchmark('heavy', 100, TASKS);
const light = pagesBenchmark('light', 5, TASKS);

type Arm = (benchmark: Benchmark, runId: string) => Promise<void>;

async function main(): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'clift-bench-'));
  const { databaseUrl: _database, temporalConnection: _cluster, ...rest } = loadSettings();
  const settings: Settings = {
    ...rest,
    home,
    blobDirectory: join(home, 'blobs'),
    temporalNamespace: 'clift',
  };
  try {
    return await withArms(settings, async (plain, durable) => {
      console.log(`machine: ${describeMachine()}`);
      const isMet = await compare(heavy, plain, durable);
      await compare(light, plain, durable);
      return isMet;
    });
  } finally {
    await stopStack(settings);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Both arms share the store, the browser and this process, so that nothing but durability differs. */
async function withArms<T>(settings: Settings, act: (plain: Arm, durable: Arm) => Promise<T>): Promise<T> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const [stack, chromium] = await Promise.all([
    startStack(settings),
    ensureChromium(settings, () => undefined),
  ]);
  const store = await createBankStore(stack);
  const pool = new BrowserPool({
    ...{
      executablePath: chromium.executablePath,
      leaseDirectory: join(settings.home, 'browsers'),
      processes,
    },
  });
  const parts: BrowserParts = {
    ...{ store, pool, worker: 'bench', screenshots: 'final' },
    policiesFor: () => instantPolicy,
    benchmarkNamed: (name) => (name === heavy.name ? heavy : light),
  };
  const cpuParts = { store, codeVersion: 'bench', mergeAdapters: nobody };
  const connection = await NativeConnection.connect(stack.temporalConnection);
  const common = { connection, namespace: stack.namespace };
  const workers = await Promise.all([
    Worker.create({
      ...{ ...common, taskQueue: taskQueues.orchestrator },
      workflowsPath: join(settings.projectDirectory, 'workflows/index.ts'),
    }),
    Worker.create({
      ...{ ...common, taskQueue: taskQueues.browser, maxConcurrentActivityTaskExecutions: CONCURRENCY },
      activities: createBrowserActivities(parts),
    }),
    Worker.create({
      ...{ ...common, taskQueue: taskQueues.cpu, maxConcurrentActivityTaskExecutions: 8 },
      activities: createCpuActivities(cpuParts),
    }),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  const clientConnection = await Connection.connect(stack.temporalConnection);
  const client = new Client({ connection: clientConnection, namespace: stack.namespace });
  const policies = new PolicyCache(parts.policiesFor, store.blobs);
  const prepare = (benchmark: Benchmark, runId: string) => prepareRun(store, benchmark, runId);
  const check = async (benchmark: Benchmark, runId: string) => {
    const { success } = await store.rolloutCounts(runId);
    if (success === benchmark.tasks.length) return;
    const causes = (
      await store.attemptsOf(rolloutId(evaluateTaskId(runId, benchmark.tasks[0]?.id ?? ''), 0))
    ).map(({ ending }) => ending);
    throw new Error(
      `${runId}: only ${success} of ${benchmark.tasks.length} rollouts went well: ${causes.join('; ')}`,
    );
  };
  try {
    return await act(
      async (benchmark, runId) => {
        await prepare(benchmark, runId);
        const queue = benchmark.tasks.map(({ id }) => id);
        const workOff = async (): Promise<void> => {
          for (let taskId = queue.shift(); taskId !== undefined; taskId = queue.shift()) {
            await planEvaluationTask(store, { runId, taskId });
            const id = rolloutId(evaluateTaskId(runId, taskId), 0);
            await rollOut(parts, policies, { runId, rolloutId: id }, new AbortController().signal);
            await recordSelection(cpuParts, { runId, taskId, selected: 0, comparisons: [] });
          }
        };
        await Promise.all(Array.from({ length: CONCURRENCY }, workOff));
        await check(benchmark, runId);
      },
      async (benchmark, runId) => {
        await prepare(benchmark, runId);
        await client.workflow.execute<typeof evaluateSuiteWorkflow>('evaluateSuiteWorkflow', {
          workflowId: evaluateSuiteId(runId),
          taskQueue: taskQueues.orchestrator,
          args: [{ runId, tasks: benchmark.tasks.length, concurrency: CONCURRENCY, nextPart: 0 }],
        });
        await check(benchmark, runId);
      },
    );
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
    await clientConnection.close();
    await connection.close();
    await pool.close();
    await store.close();
    await stack.stop();
  }
}

async function nobody(): Promise<never> {
  throw new Error('nothing is trained here');
}

async function prepareRun(
  store: Awaited<ReturnType<typeof createBankStore>>,
  benchmark: Benchmark,
  id: string,
): Promise<void> {
  const config = evaluateConfigSchema.parse({
    ...{ kind: 'evaluate', benchmark: benchmark.name, seed: 1, hyperparameters: { rolloutBudget: 1 } },
    ...{ adapterDigest: null, bankDigest: null, taskLimit: null, concurrency: CONCURRENCY },
  });
  await store.createRun({ id, kind: 'evaluate', seed: 1, identity: {}, config, codeVersion: 'bench' });
  await store.registerTasks(benchmark.tasks);
  await store.pinTaskList(
    id,
    benchmark.tasks.map((task) => task.id),
  );
}

/** Rounds of both arms in turns, after one of each that is not counted; prints the ratio. */
async function compare(benchmark: Benchmark, plain: Arm, durable: Arm): Promise<boolean> {
  const took = { plain: 0, durable: 0 };
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Whoever goes first in a round meets what the round before has left to be written.
    const order = round % 2 === 0 ? (['plain', 'durable'] as const) : (['durable', 'plain'] as const);
    for (const arm of order) {
      const began = performance.now();
      await (arm === 'plain' ? plain : durable)(benchmark, `${benchmark.name}-${arm}-${round}`);
      if (round > 0) took[arm] += performance.now() - began;
    }
  }
  const longer = took.durable / took.plain - 1;
  const perTask = (ms: number) => `${(ms / (ROUNDS * TASKS)).toFixed(0)} ms`;
  const isMet = longer <= GOAL;
  console.log(
    `${benchmark.name} pages, ${TASKS} tasks of ${STEPS} steps, ${CONCURRENCY} at a time: ${perTask(took.plain)} a task in a plain loop, ` +
      `${perTask(took.durable)} through Temporal, ${(100 * longer).toFixed(1)} % longer` +
      (benchmark === heavy ? ` (goal: at most ${100 * GOAL} %): ${isMet ? 'met' : 'MISSED'}` : ''),
  );
  return isMet;
}

if (!(await main())) process.exitCode = 1;

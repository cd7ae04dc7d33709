/** One worker a task queue, each built from just the parts that its activities may touch. */
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createCpuActivities } from '../activities/bank/index.ts';
import { createBrowserActivities } from '../activities/browser/index.ts';
import { BrowserPool } from '../activities/browser/pool.ts';
import { createJudgeActivities } from '../activities/judge/index.ts';
import { createLlmActivities } from '../activities/llm/index.ts';
import { createTrainerActivities } from '../activities/trainer/index.ts';
import { createBankStore } from '../bank-store/index.ts';
import * as processes from '../infra/processes.ts';
import { type TaskQueue, taskQueues } from '../workflows/names.ts';
import { codeVersion } from './code-version.ts';
import { endpointFor } from './endpoints.ts';
import { failureInterceptor } from './failure-interceptor.ts';
import { HistoryExporter } from './history-exporter.ts';
import {
  benchmarkNamed,
  judgeFor,
  policiesFor,
  proposerFor,
  type Reach,
  selectorFor,
  selfVerifierFor,
  trainer,
} from './parts.ts';
import { payloadGuard } from './payload-guard.ts';
import type { Settings } from './settings.ts';

export interface Roles {
  create(role: TaskQueue): Promise<Worker>;
  /** After the workers have ended. */
  close(): Promise<void>;
}

/** Where a worker stands: for leases, attempts and the server's list of pollers. */
const workerName = `worker-${process.pid}`;

/** Store and browser are opened once and shared by the roles of a process. */
export async function createRoles(settings: Settings, connection: NativeConnection): Promise<Roles> {
  const { databaseUrl, blobDirectory, temporalNamespace: namespace } = settings;
  if (databaseUrl === undefined) throw new Error('DATABASE_URL is not set; `clift up` prints it');
  const store = await createBankStore({ databaseUrl, blobDirectory });
  const reach: Reach = (choice) => endpointFor(choice, settings, store);
  const pools: BrowserPool[] = [];
  const common = { connection, namespace, ...shutdown(settings) };
  const version = codeVersion(settings.projectDirectory);
  const exporters: HistoryExporter[] = [];

  const builders: Record<TaskQueue, () => Promise<WorkerOptions>> = {
    orchestrator: async () => ({
      taskQueue: taskQueues.orchestrator,
      // Stands beside every decision in the histories, so that a replay knows whose it was.
      workerDeploymentOptions: {
        useWorkerVersioning: false,
        version: { deploymentName: 'clift', buildId: version },
      },
      workflowsPath: join(settings.projectDirectory, 'workflows/index.ts'),
      // At 0.17 MB each; a smaller cache would fetch whole histories again.
      maxCachedWorkflows: 500,
      maxConcurrentWorkflowTaskExecutions: 40,
      // What a killed orchestrator had in its cache goes to another one after this.
      stickyQueueScheduleToStartTimeout: '3 seconds',
    }),
    browser: async () => {
      const pool = await openPool(settings);
      pools.push(pool);
      return activities(
        taskQueues.browser,
        settings.browserSlots,
        createBrowserActivities({
          store,
          pool,
          policiesFor: policiesFor(reach),
          benchmarkNamed,
          worker: workerName,
          screenshots: 'final',
        }),
      );
    },
    // Neither factory below can be given a judge (invariant 9).
    llm: async () =>
      activities(
        taskQueues.llm,
        16,
        createLlmActivities({
          store,
          selfVerifierFor: selfVerifierFor(reach),
          selectorFor: selectorFor(reach),
        }),
      ),
    judge: async () =>
      activities(
        taskQueues.judge,
        8,
        createJudgeActivities({ store, judgeFor: judgeFor(reach), proposerFor: proposerFor(reach) }),
      ),
    cpu: async () => {
      exporters.push(new HistoryExporter(new Client({ connection, namespace }), store));
      return activities(
        taskQueues.cpu,
        8,
        createCpuActivities({ store, mergeAdapters: trainer.merge, codeVersion: version }),
      );
    },
    gpu: async () => activities(taskQueues.gpu, 1, createTrainerActivities({ store, trainer })),
  };
  return {
    create: async (role) => Worker.create({ ...common, ...(await builders[role]()) }),
    close: async () => {
      for (const exporter of exporters) await exporter.stop();
      for (const pool of pools) await pool.close();
      await store.close();
    },
  };
}

/** Activities that are still running after the grace are cancelled and taken over elsewhere. */
const shutdown = ({ drainGraceS }: Settings) => ({
  shutdownGraceTime: 1_000 * drainGraceS,
  // A stuck one must not keep the process; its retry begins when the heartbeat is missed.
  shutdownForceTime: 1_000 * drainGraceS + 18_000,
});

function activities(taskQueue: string, slots: number, handlers: object): WorkerOptions {
  return {
    taskQueue,
    activities: handlers,
    maxConcurrentActivityTaskExecutions: slots,
    // Cancellation travels on heartbeats: this is how long it may take to reach an activity.
    maxHeartbeatThrottleInterval: '5 seconds',
    interceptors: { activity: [failureInterceptor, payloadGuard] },
  };
}

async function openPool({ chromiumPath, home }: Settings): Promise<BrowserPool> {
  if (chromiumPath === undefined)
    throw new Error('CLIFT_CHROMIUM is not set; `clift doctor` finds a Chromium');
  const pool = new BrowserPool({
    executablePath: chromiumPath,
    leaseDirectory: join(home, 'browsers'),
    processes,
  });
  await pool.start();
  return pool;
}

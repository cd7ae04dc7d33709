/** Real Temporal server and real workflows; activities that answer at once, as told. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import {
  type ActivityInterceptorsFactory,
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type {
  BrowserActivities,
  CpuActivities,
  GpuActivities,
  JudgeActivities,
  LlmActivities,
  Outcome,
  RolloutSummary,
  TrainingStepPlan,
  TrainingStepRef,
  TrainingStepSummary,
} from '../../activities/contracts.ts';
import { payloadGuard } from '../../workers/payload-guard.ts';
import { evaluateTaskId, rolloutId, taskQueues, trainStepId } from '../../workflows/names.ts';

type Activities = BrowserActivities & CpuActivities & GpuActivities & JudgeActivities & LlmActivities;

/** Activities that answer otherwise than in a house where everything goes well. */
export type Script = Partial<Activities>;

export interface House {
  readonly client: Client;
  readonly bundle: WorkflowBundleWithSourceMap;
  /** Names of the activities called so far, in order. */
  readonly calls: readonly string[];
  /** Replaces activities from now on. */
  play(script: Script): void;
  close(): Promise<void>;
}

/** The queues belong to a namespace, so each house has one of its own. */
export async function openHouse(
  address: string,
  namespace: string,
  { maxCachedWorkflows = 500, buildId = 'scripted' } = {},
): Promise<House> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const clientConnection = await Connection.connect({ address });
  await createNamespace(clientConnection, namespace);
  const connection = await NativeConnection.connect({ address });
  const calls: string[] = [];
  const activities: Activities = { ...succeeding };
  const workers = await Promise.all(
    Object.values(taskQueues).map((taskQueue) =>
      Worker.create({
        ...{ connection, namespace, taskQueue },
        ...(taskQueue === 'orchestrator'
          ? {
              ...{ workflowBundle: bundle, maxCachedWorkflows },
              workerDeploymentOptions: {
                useWorkerVersioning: false,
                version: { deploymentName: 'clift', buildId },
              },
            }
          : { activities: late(activities), interceptors: { activity: [countInto(calls), payloadGuard] } }),
      }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    client: new Client({ connection: clientConnection, namespace }),
    ...{ bundle, calls },
    play: (script) => {
      calls.length = 0;
      Object.assign(activities, succeeding, script);
    },
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await running;
      await clientConnection.close();
      await connection.close();
    },
  };
}

export async function createNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  // The server's caches learn of a namespace within a few seconds.
  for (let tries = 0; ; tries += 1) {
    try {
      await connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: 'probe' },
        taskQueueType: 1,
      });
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const countInto =
  (calls: string[]): ActivityInterceptorsFactory =>
  (context) => ({
    inbound: {
      execute: (input, next) => {
        calls.push(context.info.activityType);
        return next(input);
      },
    },
  });

/** Looks each activity up when it is called, so that a script can change between tests. */
function late(activities: Activities): Activities {
  return {
    rollOut: (input) => activities.rollOut(input),
    answerQuestions: (input) => activities.answerQuestions(input),
    castVotes: (input) => activities.castVotes(input),
    judgeGroup: (input) => activities.judgeGroup(input),
    growBank: (input) => activities.growBank(input),
    planTrainingStep: (input) => activities.planTrainingStep(input),
    certify: (input) => activities.certify(input),
    buildBatch: (input) => activities.buildBatch(input),
    commitTrainingStep: (input) => activities.commitTrainingStep(input),
    repairBank: (input) => activities.repairBank(input),
    finishTraining: (input) => activities.finishTraining(input),
    setRunState: (input) => activities.setRunState(input),
    cancelRun: (input) => activities.cancelRun(input),
    closeRollout: (input) => activities.closeRollout(input),
    listEvaluationTasks: (input) => activities.listEvaluationTasks(input),
    planEvaluationTask: (input) => activities.planEvaluationTask(input),
    recordSelection: (input) => activities.recordSelection(input),
    initialiseAdapter: (input) => activities.initialiseAdapter(input),
    updateAdapter: (input) => activities.updateAdapter(input),
  };
}

export const rolledOut = (id: string, outcome: Outcome = { kind: 'success' }): RolloutSummary => ({
  rolloutId: id,
  attempt: 1,
  outcome,
  stopReason: 'answered',
  steps: 3,
  trajectoryDigest: 'a'.repeat(64),
});

const committed = (at: TrainingStepRef, outcome: TrainingStepSummary['outcome']): TrainingStepSummary => ({
  ...{ step: at.step, taskId: 'sandbox/mail/one', outcome },
  ...{ success: 8, failure: 0, unscored: 0, meanJudgeScore: 0.5, adapterDigest: null },
});

const groupOf = ({ runId, shard, step }: TrainingStepRef) => trainStepId(runId, shard, step);
const range = (length: number) => Array.from({ length }, (_, index) => index);

/** A house in which everything goes well: groups of eight, three rollouts an evaluation task. */
const succeeding: Activities = {
  rollOut: async ({ rolloutId: id }) => rolledOut(id),
  answerQuestions: async () => ({ states: 2, answers: 10, invalid: 0 }),
  castVotes: async () => ({ swap: false, votes: ['A', 'A'] }),
  judgeGroup: async () => ({ ok: true, judged: 8, meanScore: 0.5 }),
  growBank: async () => ({ proposed: 4, accepted: 3, deficiency: 0.4 }),
  planTrainingStep: async (at) => ({
    groupId: groupOf(at),
    taskId: 'sandbox/mail/one',
    ...{ rollouts: 8, quorum: 6, useBank: true, committed: null },
  }),
  certify: async () => ({ observations: 80, certified: 4 }),
  buildBatch: async () => ({ batchDigest: 'b'.repeat(64) }),
  commitTrainingStep: async ({ outcome, ...at }) => committed(at, outcome),
  repairBank: async () => ({ repaired: 0, retired: 0 }),
  finishTraining: async () => ({
    bankDigest: 'c'.repeat(64),
    adapterDigest: 'd'.repeat(64),
    averagingError: 0,
  }),
  setRunState: async () => {},
  cancelRun: async () => {},
  closeRollout: async ({ rolloutId: id }) => ({
    ...rolledOut(id, { kind: 'unscored', cause: 'infra' }),
    stopReason: 'died',
  }),
  listEvaluationTasks: async ({ from, to }) =>
    range(to - from).map((index) => `sandbox/mail/${from + index}`),
  planEvaluationTask: async () => ({ rollouts: 3, select: true, done: null }),
  recordSelection: async ({ runId, taskId, selected, comparisons }) => ({
    ...{ taskId, greedy: { kind: 'failure' }, emitted: { kind: 'success' } },
    selected: selected === null ? null : rolloutId(evaluateTaskId(runId, taskId), selected),
    swaps: comparisons.filter(({ swap }) => swap).length,
  }),
  initialiseAdapter: async () => ({ adapterDigest: 'e'.repeat(64) }),
  updateAdapter: async () => ({ adapterDigest: 'f'.repeat(64), loss: 0.1, kl: 0, clipShare: 0 }),
};

/** A training step that was committed before: it costs the shard as many events as any other, and no time. */
export const committedPlan = async (at: TrainingStepRef): Promise<TrainingStepPlan> => ({
  ...{ groupId: 'g', taskId: 't', rollouts: 0, quorum: 1, useBank: true },
  committed: committed(at, 'updated'),
});

/**
 * What the recorded histories tell: every workflow and every way that it can go, each played by the real plot on a
 * real server, with activities that answer as told. Shards and parts restart their history early here.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { withHeartbeat } from '../../activities/heartbeat.ts';
import {
  controls,
  evaluateSuiteId,
  evaluateTaskId,
  taskQueues,
  trainRunId,
  trainStepId,
} from '../../workflows/names.ts';
import { committedPlan, type House, rolledOut, type Script } from '../workflows/scripted-house.ts';

/** Events after which the server that records asks a workflow to continue as new. */
export const EVENTS_PER_HISTORY = 60;

/** Plays one story; all its workflows belong to the run of that name. */
type Story = (house: House, runId: string) => Promise<void>;

const taskQueue = taskQueues.orchestrator;
const taskId = 'sandbox/mail/one';

const fault = (type: string) =>
  ApplicationFailure.create({ type, message: 'the remedy', nonRetryable: true });
const throwing = (type: string) => async () => {
  throw fault(type);
};
const indexOf = (rolloutId: string) => Number(rolloutId.split('/').at(-1));
const untilCancelled = () =>
  withHeartbeat(async (signal) => {
    if (!signal.aborted) await once(signal, 'abort');
    signal.throwIfAborted();
    return rolledOut('never');
  });

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}
const called = (house: House, name: string) => house.calls.filter((call) => call === name).length;

// ---- one training step -------------------------------------------------------------------------------------

const startStep = (house: House, runId: string): Promise<WorkflowHandle> =>
  house.client.workflow.start('trainStepWorkflow', {
    ...{ taskQueue, workflowId: trainStepId(runId, 0, 0) },
    args: [{ runId, shard: 0, step: 0 }],
  });

/** A training step under that script; it may fail. */
const step =
  (script: Script): Story =>
  async (house, runId) => {
    house.play(script);
    await (await startStep(house, runId)).result().catch(() => undefined);
  };

const losing = (lost: number): Script => ({
  rollOut: async ({ rolloutId }) => {
    if (indexOf(rolloutId) < lost) throw fault('Tampered');
    return rolledOut(rolloutId);
  },
});

const cancelledStep: Story = async (house, runId) => {
  house.play({ rollOut: untilCancelled });
  const running = await startStep(house, runId);
  await until(() => called(house, 'rollOut') === 8);
  await running.cancel();
  await running.result().catch(() => undefined);
};

// ---- a training run ----------------------------------------------------------------------------------------

const startTraining = (house: House, runId: string, shards: number, steps: number): Promise<WorkflowHandle> =>
  house.client.workflow.start('trainRunWorkflow', {
    ...{ taskQueue, workflowId: trainRunId(runId), workflowTaskTimeout: '5 seconds' },
    args: [{ runId, shards, steps, growEverySteps: 4 }],
  });

/** Continues as new, grows its bank, is paused in the middle and resumed. */
const wholeTraining: Story = async (house, runId) => {
  house.play({ planTrainingStep: committedPlan });
  const run = await startTraining(house, runId, 2, 14);
  await until(() => called(house, 'planTrainingStep') > 6);
  await run.executeUpdate(controls.pause, { args: ['lunch'] });
  await run.executeUpdate(controls.resume);
  await run.result();
};

/** Paused so often that histories end while they are paused. */
const pausedTraining: Story = async (house, runId) => {
  house.play({ planTrainingStep: committedPlan });
  const run = await startTraining(house, runId, 1, 12);
  while (called(house, 'planTrainingStep') < 11) {
    await run.executeUpdate(controls.pause, { args: ['lunch'] });
    await run.executeUpdate(controls.resume);
  }
  await run.result();
};

const ceilingInTraining: Story = async (house, runId) => {
  let asked = 0;
  house.play({
    judgeGroup: async () => {
      asked += 1;
      if (asked === 2) throw fault('BudgetExceeded');
      return { ok: true, judged: 8, meanScore: 0.5 };
    },
    setRunState: async ({ state }) => {
      if (state === 'paused') isPaused = true;
    },
  });
  let isPaused = false;
  const run = await startTraining(house, runId, 2, 2);
  await until(() => isPaused);
  await run.executeUpdate(controls.resume);
  await run.result();
};

const cancelledTraining: Story = async (house, runId) => {
  house.play({ rollOut: untilCancelled });
  const run = await startTraining(house, runId, 2, 2);
  await until(() => called(house, 'rollOut') === 16);
  await run.cancel();
  await run.result().catch(() => undefined);
};

const failedTraining: Story = async (house, runId) => {
  house.play({ certify: throwing('Tampered') });
  const run = await startTraining(house, runId, 2, 2);
  await run.result().catch(() => undefined);
};

// ---- evaluation --------------------------------------------------------------------------------------------

/** One evaluation task under that script. */
const task =
  (script: Script): Story =>
  async (house, runId) => {
    house.play(script);
    await house.client.workflow.execute('evaluateTaskWorkflow', {
      ...{ taskQueue, workflowId: evaluateTaskId(runId, taskId) },
      args: [{ runId, taskId }],
    });
  };

const threeVotes: Script = {
  castVotes: async ({ challenger }) => ({ swap: indexOf(challenger) === 2, votes: ['B', 'A', 'B'] }),
};
const ofFour: Script = {
  ...threeVotes,
  planEvaluationTask: async () => ({ rollouts: 4, select: true, done: null }),
};

const startSuite = (house: House, runId: string, tasks: number): Promise<WorkflowHandle> =>
  house.client.workflow.start('evaluateSuiteWorkflow', {
    ...{ taskQueue, workflowId: evaluateSuiteId(runId), workflowTaskTimeout: '5 seconds' },
    args: [{ runId, tasks, concurrency: 3, nextPart: 0 }],
  });

const outcome = { kind: 'failure' } as const;
const decided: Script = {
  planEvaluationTask: async (input) => ({
    ...{ rollouts: 3, select: true },
    done: { taskId: input.taskId, selected: null, greedy: outcome, emitted: outcome, swaps: 0 },
  }),
};

/** Two parts, the first of them in several histories; the suite is paused until it continues as new, too. */
const wholeSuite: Story = async (house, runId) => {
  house.play(decided);
  const run = await startSuite(house, runId, 102);
  for (let pauses = 0; pauses < 6; pauses += 1) {
    await run.executeUpdate(controls.pause, { args: ['lunch'] });
    await run.executeUpdate(controls.resume);
  }
  await run.result();
};

const ceilingInSuite: Story = async (house, runId) => {
  let rollouts = 0;
  let isPaused = false;
  house.play({
    rollOut: async ({ rolloutId }) => {
      rollouts += 1;
      if (rollouts === 4) throw fault('BudgetExceeded');
      return rolledOut(rolloutId);
    },
    setRunState: async ({ state }) => {
      if (state === 'paused') isPaused = true;
    },
  });
  const run = await startSuite(house, runId, 5);
  await until(() => isPaused);
  await run.executeUpdate(controls.resume);
  await run.result();
};

const cancelledSuite: Story = async (house, runId) => {
  house.play({ rollOut: untilCancelled });
  const run = await startSuite(house, runId, 5);
  await until(() => called(house, 'rollOut') === 9);
  await run.cancel();
  await run.result().catch(() => undefined);
};

export const stories: Readonly<Record<string, Story>> = {
  'step-updated': step({}),
  'step-with-lost-rollouts': step(losing(2)),
  'step-below-quorum': step(losing(3)),
  'step-without-judgement': step({ judgeGroup: throwing('Tampered') }),
  'step-without-answers': step({ answerQuestions: throwing('Tampered') }),
  'step-without-gradient': step({ buildBatch: async () => ({ batchDigest: null }) }),
  'step-without-bank': step({
    planTrainingStep: async () => ({
      ...{ groupId: 'g', taskId: 't', rollouts: 2, quorum: 1, useBank: false, committed: null },
    }),
  }),
  'step-committed-before': step({ planTrainingStep: committedPlan }),
  'step-at-ceiling': step({ judgeGroup: throwing('BudgetExceeded') }),
  'step-cancelled': cancelledStep,
  'training-grown-paused-and-continued': wholeTraining,
  'training-paused-often': pausedTraining,
  'training-at-ceiling': ceilingInTraining,
  'training-cancelled': cancelledTraining,
  'training-failed': failedTraining,
  'growth-without-proposer': async (house, runId) => {
    house.play({ planTrainingStep: committedPlan, growBank: throwing('ProviderRefused') });
    await (await startTraining(house, runId, 1, 5)).result();
  },
  'task-of-three': task(threeVotes),
  'task-of-four': task(ofFour),
  'task-without-candidates': task({ rollOut: throwing('Tampered') }),
  'task-without-answers-or-votes': task({
    answerQuestions: async ({ rolloutId }) => {
      if (indexOf(rolloutId) === 1) throw fault('Tampered');
      return { states: 1, answers: 1, invalid: 0 };
    },
    castVotes: throwing('Tampered'),
  }),
  'task-decided-before': task(decided),
  'suite-paused-and-continued': wholeSuite,
  'suite-at-ceiling': ceilingInSuite,
  'suite-cancelled': cancelledSuite,
};

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { CpuActivities } from '../../activities/contracts.ts';
import { withHeartbeat } from '../../activities/heartbeat.ts';
import { outages, pausingFaults } from '../../workflows/faults.ts';
import { controls, evaluateSuiteId, taskQueues, trainRunId, trainShardId } from '../../workflows/names.ts';
import { committedPlan, type House, openHouse, rolledOut } from './scripted-house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse(inject('temporalAddress'), 'pause');
});
afterAll(() => house.close());

type RunStateChange = Parameters<CpuActivities['setRunState']>[0];
let states: RunStateChange[] = [];
const recording: Pick<CpuActivities, 'setRunState' | 'cancelRun'> = {
  setRunState: async (change) => {
    states.push(change);
  },
  cancelRun: async ({ runId }) => {
    states.push({ runId, state: 'cancelled', reason: '' });
  },
};
beforeEach(() => {
  states = [];
  house.play(recording);
});

const taskQueue = taskQueues.orchestrator;
const fault = (type: string, message = 'the remedy') =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

const train = (runId: string, { shards = 1, steps = 2 } = {}): Promise<WorkflowHandle> =>
  house.client.workflow.start('trainRunWorkflow', {
    ...{ taskQueue, workflowId: trainRunId(runId) },
    args: [{ runId, shards, steps, growEverySteps: 60 }],
  });

const evaluate = (runId: string, { tasks = 6, concurrency = 3 } = {}): Promise<WorkflowHandle> =>
  house.client.workflow.start('evaluateSuiteWorkflow', {
    ...{ taskQueue, workflowId: evaluateSuiteId(runId) },
    args: [{ runId, tasks, concurrency, nextPart: 0 }],
  });

const pause = (run: WorkflowHandle, reason = 'lunch') =>
  run.executeUpdate(controls.pause, { args: [reason] });
const resume = (run: WorkflowHandle) => run.executeUpdate(controls.resume);
const called = (name: string) => house.calls.filter((call) => call === name).length;
const history = () => states.map(({ state, reason }) => [state, reason]);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}
const untilState = (state: RunStateChange['state']) => until(() => states.at(-1)?.state === state);

/** A rollout that is under way until it is told to end, as a browser's is. */
const cancellable = () =>
  withHeartbeat((signal) => once(signal, 'abort').then(() => signal.throwIfAborted())).then(() =>
    rolledOut('never'),
  );

/** Rollouts that stay under way until they are let go. */
function heldRollouts() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const rollOut = async ({ rolloutId }: { readonly rolloutId: string }) => {
    await promise;
    return rolledOut(rolloutId);
  };
  return { rollOut, letGo: resolve };
}

describe('a training run', () => {
  test.each(pausingFaults)(
    'pauses with the remedy on %s, commits no step that was cut short, and goes on',
    async (type) => {
      const throwing = async () => {
        throw fault(type);
      };
      const scripts = [{ rollOut: throwing }, { judgeGroup: throwing }, { answerQuestions: throwing }];
      for (const script of type === 'BudgetExceeded' ? scripts : scripts.slice(0, 1)) {
        states = [];
        house.play({ ...recording, ...script });
        const run = await train(`paused-by-${type}-in-${Object.keys(script)}`, { steps: 1 });
        await untilState('paused');
        expect(called('commitTrainingStep')).toBe(0);
        house.play(recording);
        await resume(run);
        await run.result();
        expect(called('commitTrainingStep')).toBe(1);
        expect(history()).toEqual([
          ['running', 'training'],
          ['paused', 'the remedy'],
          ['running', 'training'],
          ['completed', expect.any(String)],
        ]);
      }
    },
  );

  test.each(outages)('pauses on %s that outlasted its retries, and loses no piece to it', async (type) => {
    // As it is thrown once the last retry has failed.
    const throwing = async () => {
      throw fault(type, 'HTTP 503');
    };
    const scripts = [{ rollOut: throwing }, { judgeGroup: throwing }, { answerQuestions: throwing }];
    for (const script of type === 'ProviderUnavailable' ? scripts : scripts.slice(0, 1)) {
      states = [];
      house.play({ ...recording, ...script });
      const run = await train(`outage-${type}-in-${Object.keys(script)}`, { steps: 1 });
      await untilState('paused');
      expect(states.at(-1)?.reason).toBe(
        'HTTP 503. All retries are used up; resume the run when this is over',
      );
      expect(called('commitTrainingStep') + called('closeRollout')).toBe(0);
      house.play(recording);
      await resume(run);
      await run.result();
      expect(called('commitTrainingStep')).toBe(1);
    }
  });

  test('is not paused again by the late answer to a pause that was taken back', async () => {
    house.play({ ...recording, planTrainingStep: committedPlan });
    const run = await train('taken-back', { steps: 400 });
    await until(() => called('planTrainingStep') > 0);
    await pause(run);
    await resume(run);
    // As a slow shard would have answered, and as the run would have told a shard that has just begun.
    await run.signal('quiet', trainShardId('taken-back', 0), { reason: 'lunch', order: 0 });
    const shard = house.client.workflow.getHandle(trainShardId('taken-back', 0));
    await shard.signal('close', { reason: 'lunch', order: 0 });
    const planned = called('planTrainingStep');
    await until(() => called('planTrainingStep') > planned + 3);
    expect(states.at(-1)?.state).toBe('running');
    await run.cancel();
    await expect(run.result()).rejects.toThrow();
  });

  test('answers pauses and resumes that come together, each of them, and does what is said next', async () => {
    house.play({ ...recording, planTrainingStep: committedPlan });
    const run = await train('to-and-fro', { shards: 3, steps: 400 });
    onTestFinished(async () => void (await run.terminate().catch(() => undefined)));
    for (let round = 0; round < 8; round += 1) {
      await Promise.all([pause(run), resume(run), pause(run, 'again'), resume(run), pause(run, 'and again')]);
      await pause(run, `round ${round}`);
      expect(states.at(-1)?.state).toBe('paused');
      const planned = called('planTrainingStep');
      await sleep(100);
      expect(called('planTrainingStep')).toBe(planned);
      await resume(run);
      expect(states.at(-1)?.state).toBe('running');
      await until(() => called('planTrainingStep') > planned);
    }
  });

  test('pauses when an activity says more than a history should hold, and names it', async () => {
    house.play({
      ...recording,
      judgeGroup: async () => ({ ok: false, reason: 'x'.repeat(3_000) }),
    });
    const run = await train('talkative', { steps: 1 });
    await untilState('paused');
    expect(states.at(-1)?.reason).toMatch(
      /^The result of judgeGroup has 30\d\d bytes, of 2048 allowed\. Put/,
    );
    house.play(recording);
    await resume(run);
    await run.result();
  });

  test('that meets the fault again pauses again', async () => {
    house.play({
      ...recording,
      judgeGroup: async () => {
        throw fault('BudgetExceeded');
      },
    });
    const run = await train('not-raised', { steps: 1 });
    await untilState('paused');
    await resume(run);
    await until(() => states.length === 4);
    expect(states.map(({ state }) => state)).toEqual(['running', 'paused', 'running', 'paused']);
    house.play(recording);
    await resume(run);
    await run.result();
  });

  test('pauses between training steps: the one under way is finished first, in every shard', async () => {
    const { rollOut, letGo } = heldRollouts();
    house.play({ ...recording, rollOut });
    const run = await train('between', { shards: 3 });
    await until(() => called('rollOut') === 24);
    const paused = pause(run);
    await sleep(500);
    expect(history()).toEqual([['running', 'training']]);
    letGo();
    await paused;
    expect(history().at(-1)).toEqual(['paused', 'lunch']);
    // Nothing is under way: it is safe to kill now.
    expect(called('commitTrainingStep')).toBe(3);
    await sleep(500);
    expect(called('planTrainingStep')).toBe(3);

    await resume(run);
    expect(history().at(-1)).toEqual(['running', 'training']);
    await run.result();
    expect(called('commitTrainingStep')).toBe(6);
  });

  test('stops all its shards when one of them meets a ceiling, and resumes all of them', async () => {
    house.play({
      ...recording,
      judgeGroup: async ({ groupId }) => {
        if (groupId.includes('/shard/1/step/1')) throw fault('BudgetExceeded');
        return { ok: true, judged: 8, meanScore: 0.5 };
      },
    });
    const run = await train('sharded', { shards: 3, steps: 40 });
    await untilState('paused');
    const planned = called('planTrainingStep');
    expect(planned).toBeLessThan(120);
    await sleep(500);
    expect(called('planTrainingStep')).toBe(planned);
    house.play({ ...recording, planTrainingStep: committedPlan });
    await resume(run);
    await run.result();
    expect(states.at(-1)?.state).toBe('completed');
  });

  test('answers a pause that comes too late, and refuses one without a reason', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    house.play({
      ...recording,
      finishTraining: async () => {
        await promise;
        return { bankDigest: 'c'.repeat(64), adapterDigest: null, averagingError: null };
      },
    });
    const run = await train('late', { steps: 1 });
    await until(() => called('finishTraining') === 1);
    await expect(pause(run, ' ')).rejects.toThrow();
    const late = pause(run);
    await sleep(300);
    resolve();
    await late;
    await run.result();
    expect(states.at(-1)?.state).toBe('completed');
  });

  test('that cannot be recorded fails, and nothing of it goes on', async () => {
    house.play({
      ...recording,
      planTrainingStep: committedPlan,
      setRunState: async (change) => {
        if (change.state === 'paused') throw fault('StoreConflict', 'inspect it');
        states.push(change);
      },
    });
    const run = await train('unrecorded', { shards: 2, steps: 400 });
    await until(() => called('planTrainingStep') > 4);
    await Promise.allSettled([pause(run), run.result()]);
    expect(states.at(-1)).toEqual({ runId: 'unrecorded', state: 'failed', reason: 'inspect it' });
    for (const shard of [0, 1]) {
      const { status } = await house.client.workflow.getHandle(trainShardId('unrecorded', shard)).describe();
      expect(status.name).toBe('CANCELLED');
    }
  });

  test('waits for its other shards before it fails, so that it can be started again at once', async () => {
    const isFirst = (runId: string) => runId.includes('/shard/0/');
    house.play({
      ...recording,
      certify: async ({ shard }) => {
        if (shard === 0) throw fault('Tampered', 'restore the file');
        return { observations: 1, certified: 0 };
      },
      judgeGroup: async ({ groupId }) => {
        if (!isFirst(groupId)) await sleep(1_000);
        return { ok: true, judged: 8, meanScore: 0.5 };
      },
    });
    const run = await train('failing', { shards: 3 });
    await expect(run.result()).rejects.toThrow();
    expect(states.at(-1)).toEqual({ runId: 'failing', state: 'failed', reason: 'restore the file' });
    const shard = house.client.workflow.getHandle(`${trainRunId('failing')}/shard/1`);
    expect((await shard.describe()).status.name).not.toBe('RUNNING');
    house.play(recording);
    await (await train('failing', { shards: 3 })).result();
    expect(states.at(-1)?.state).toBe('completed');
  });
});

describe('an evaluation', () => {
  test('pauses as a whole at a ceiling, records no task that was cut short, and goes on', async () => {
    let rollouts = 0;
    house.play({
      ...recording,
      rollOut: async ({ rolloutId }) => {
        rollouts += 1;
        if (rollouts > 4) throw fault('BudgetExceeded', 'raise it');
        return rolledOut(rolloutId);
      },
    });
    const run = await evaluate('ceiling');
    await untilState('paused');
    expect(states.at(-1)).toEqual({ runId: 'ceiling', state: 'paused', reason: 'raise it' });
    const before = called('recordSelection');
    expect(before).toBeLessThanOrEqual(1);
    house.play(recording);
    await resume(run);
    await run.result();
    expect(before + called('recordSelection')).toBe(6);
    expect(states.at(-1)?.state).toBe('completed');
  });

  test('pauses between tasks: open ones are finished, no other is begun', async () => {
    const { rollOut, letGo } = heldRollouts();
    house.play({ ...recording, rollOut });
    const run = await evaluate('between-tasks', { tasks: 9 });
    await until(() => called('rollOut') === 9);
    const paused = pause(run);
    letGo();
    await paused;
    expect(called('recordSelection')).toBe(3);
    expect(called('planEvaluationTask')).toBe(3);
    await resume(run);
    await run.result();
    expect(called('recordSelection')).toBe(9);
  });
});

describe('cancelling', () => {
  test.each([
    ['a training run', train],
    ['an evaluation', evaluate],
  ])('%s ends what is under way and is recorded', async (name, start) => {
    house.play({ ...recording, rollOut: cancellable });
    const run = await start(`cancelled ${name}`);
    await until(() => called('rollOut') >= 8);
    const began = performance.now();
    await run.cancel();
    await expect(run.result()).rejects.toThrow();
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(states.at(-1)?.state).toBe('cancelled');
    expect(called('commitTrainingStep') + called('recordSelection')).toBe(0);
  });

  test.each([
    ['fails', () => withHeartbeat((signal) => once(signal, 'abort'))],
    ['has lost its worker', () => sleep(20_000)],
  ])('counts as such where an activity that is told to end %s', async (name, work) => {
    const begun = Promise.withResolvers<void>();
    house.play({
      ...recording,
      updateAdapter: async () => {
        begun.resolve();
        await work();
        throw fault('BatchConflict', 'an error of its own');
      },
    });
    const run = await train(`cancelled ${name}`, { steps: 1 });
    await begun.promise;
    await run.cancel();
    await expect(run.result()).rejects.toThrow();
    expect(states.at(-1)?.state).toBe('cancelled');
    expect((await run.describe()).status.name).toBe('CANCELLED');
  });

  test('a paused run is recorded too', async () => {
    house.play({ ...recording, planTrainingStep: committedPlan });
    const run = await train('cancelled-while-paused', { steps: 400 });
    await pause(run);
    await run.cancel();
    await expect(run.result()).rejects.toThrow();
    expect(states.at(-1)?.state).toBe('cancelled');
  });
});

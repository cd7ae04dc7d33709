import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CpuActivities } from '../../activities/contracts.ts';
import { pausingFaults } from '../../workflows/faults.ts';
import { evaluateSuiteId, taskQueues, trainRunId } from '../../workflows/names.ts';
import { type House, openHouse, rolledOut } from './scripted-house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse('pause');
});
afterAll(() => house.close());

type RunStateChange = Parameters<CpuActivities['setRunState']>[0];
let states: RunStateChange[] = [];
const setRunState = async (change: RunStateChange) => {
  states.push(change);
};
beforeEach(() => {
  states = [];
  house.play({ setRunState });
});

const taskQueue = taskQueues.orchestrator;
const fault = (type: string, message = 'the remedy') =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

function train(runId: string, shards = 1) {
  return house.client.workflow.execute('trainRunWorkflow', {
    ...{ taskQueue, workflowId: trainRunId(runId) },
    args: [{ runId, shards, steps: 2, growEverySteps: 60 }],
  });
}

function evaluate(runId: string) {
  return house.client.workflow.execute('evaluateSuiteWorkflow', {
    ...{ taskQueue, workflowId: evaluateSuiteId(runId) },
    args: [{ runId, tasks: 6, concurrency: 3 }],
  });
}

const called = (name: string) => house.calls.filter((call) => call === name).length;

describe('a training run', () => {
  test.each(pausingFaults)(
    'pauses with the remedy on %s, and commits no step that was cut short',
    async (type) => {
      const throwing = async () => {
        throw fault(type);
      };
      for (const script of [{ rollOut: throwing }, { judgeGroup: throwing }, { answerQuestions: throwing }]) {
        states = [];
        house.play({ setRunState, ...script });
        await expect(train(`paused-by-${type}-in-${Object.keys(script)}`)).rejects.toThrow();
        expect(states.map(({ state, reason }) => [state, reason])).toEqual([
          ['running', 'training'],
          ['paused', 'the remedy'],
        ]);
        expect(called('commitTrainingStep')).toBe(0);
      }
    },
  );

  test('goes on when it is started again', async () => {
    house.play({
      setRunState,
      judgeGroup: async () => {
        throw fault('BudgetExceeded');
      },
    });
    await expect(train('raised')).rejects.toThrow();
    house.play({ setRunState });
    await train('raised');
    expect(states.at(-1)?.state).toBe('completed');
    expect(called('commitTrainingStep')).toBe(2);
  });

  test('waits for its other shards before it ends, so that it can be started again at once', async () => {
    const isFirst = (runId: string) => runId.includes('/shard/0/');
    house.play({
      setRunState,
      judgeGroup: async ({ groupId }) => {
        if (isFirst(groupId)) throw fault('BudgetExceeded');
        return { ok: true, judged: 8, meanScore: 0.5 };
      },
    });
    await expect(train('sharded', 3)).rejects.toThrow();
    const shard = house.client.workflow.getHandle(`${trainRunId('sharded')}/shard/1`);
    expect((await shard.describe()).status.name).not.toBe('RUNNING');
    house.play({ setRunState });
    await train('sharded', 3);
    expect(states.at(-1)?.state).toBe('completed');
  });

  test('that a fault of another kind ends is failed, with its reason', async () => {
    house.play({
      setRunState,
      certify: async () => {
        throw fault('Tampered', 'restore the file');
      },
    });
    await expect(train('tampered')).rejects.toThrow();
    expect(states.at(-1)).toEqual({ runId: 'tampered', state: 'failed', reason: 'restore the file' });
  });
});

describe('an evaluation', () => {
  test('pauses as a whole, records no task that was cut short, and goes on', async () => {
    let rollouts = 0;
    house.play({
      setRunState,
      rollOut: async ({ rolloutId }) => {
        rollouts += 1;
        if (rollouts > 4) throw fault('BudgetExceeded', 'raise it');
        return rolledOut(rolloutId);
      },
    });
    await expect(evaluate('paused')).rejects.toThrow();
    expect(states.at(-1)).toEqual({ runId: 'paused', state: 'paused', reason: 'raise it' });
    expect(called('recordSelection')).toBeLessThanOrEqual(1);
    house.play({ setRunState });
    await evaluate('paused');
    expect(called('recordSelection')).toBe(6);
    expect(states.at(-1)?.state).toBe('completed');
  });
});

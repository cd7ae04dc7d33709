import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { evaluateSuiteWorkflow } from '../../workflows/evaluate-suite.ts';
import { evaluateTaskWorkflow } from '../../workflows/evaluate-task.ts';
import { growBankWorkflow } from '../../workflows/grow-bank.ts';
import {
  controls,
  evaluateTaskId,
  growBankId,
  taskQueues,
  trainRunId,
  trainShardId,
  trainStepId,
} from '../../workflows/names.ts';
import { trainRunWorkflow } from '../../workflows/train-run.ts';
import { trainStepWorkflow } from '../../workflows/train-step.ts';
import { committedPlan, type House, openHouse, rolledOut } from './scripted-house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse(inject('temporalAddress'), 'plot');
});
afterAll(() => house.close());
beforeEach(() => house.play({}));

const taskQueue = taskQueues.orchestrator;
const fatal = (message: string) =>
  ApplicationFailure.create({ type: 'Tampered', message, nonRetryable: true });
const indexOf = (rolloutId: string) => Number(rolloutId.split('/').at(-1));

/** One training step under a run of that name. */
function trainStep(runId: string) {
  return house.client.workflow.execute(trainStepWorkflow, {
    ...{ taskQueue, workflowId: trainStepId(runId, 0, 0) },
    args: [{ runId, shard: 0, step: 0 }],
  });
}

function evaluateTask(runId: string) {
  return house.client.workflow.execute(evaluateTaskWorkflow, {
    ...{ taskQueue, workflowId: evaluateTaskId(runId, 'sandbox/mail/1') },
    args: [{ runId, taskId: 'sandbox/mail/1' }],
  });
}

const called = (name: string) => house.calls.filter((call) => call === name).length;

async function eventsOf(workflowId: string): Promise<number> {
  const history = await house.client.workflow.getHandle(workflowId).fetchHistory();
  return history.events?.length ?? 0;
}

describe('a training step', () => {
  test('rolls out, judges, answers, certifies, builds the batch, updates once and commits', async () => {
    expect(await trainStep('happy')).toMatchObject({ outcome: 'updated' });
    expect(called('rollOut')).toBe(8);
    expect(called('answerQuestions')).toBe(8);
    expect(called('judgeGroup')).toBe(1);
    expect(house.calls.slice(-4)).toEqual(['certify', 'buildBatch', 'updateAdapter', 'commitTrainingStep']);
    expect(await eventsOf(trainStepId('happy', 0, 0))).toBeLessThanOrEqual(175);
  });

  test('goes on without lost and unscored rollouts while the quorum holds, and shows them to nobody', async () => {
    const answered: number[] = [];
    house.play({
      rollOut: async ({ rolloutId }) => {
        if (indexOf(rolloutId) === 1) throw fatal('lost');
        return rolledOut(
          rolloutId,
          indexOf(rolloutId) === 2 ? { kind: 'unscored', cause: 'infra' } : { kind: 'failure' },
        );
      },
      answerQuestions: async ({ rolloutId }) => {
        answered.push(indexOf(rolloutId));
        return { states: 1, answers: 1, invalid: 0 };
      },
    });
    expect(await trainStep('two-lost')).toMatchObject({ outcome: 'updated' });
    expect(answered.sort()).toEqual([0, 3, 4, 5, 6, 7]);
  });

  test('uses a rollout that finished although its activity was given up, and asks it the same questions', async () => {
    const answered: number[] = [];
    house.play({
      rollOut: async ({ rolloutId }) => {
        if (indexOf(rolloutId) < 4) throw fatal('its worker died before it could say so');
        return rolledOut(rolloutId);
      },
      closeRollout: async ({ rolloutId }) => rolledOut(rolloutId, { kind: 'failure' }),
      answerQuestions: async ({ rolloutId }) => {
        answered.push(indexOf(rolloutId));
        return { states: 1, answers: 1, invalid: 0 };
      },
    });
    expect(await trainStep('given-up')).toMatchObject({ outcome: 'updated' });
    expect(answered.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('below quorum is neither judged nor certified nor learned from, and still committed', async () => {
    house.play({
      rollOut: async ({ rolloutId }) =>
        rolledOut(
          rolloutId,
          indexOf(rolloutId) < 3 ? { kind: 'unscored', cause: 'infra' } : { kind: 'success' },
        ),
    });
    expect(await trainStep('below-quorum')).toMatchObject({ outcome: 'below_quorum' });
    expect(house.calls).not.toContain('judgeGroup');
    expect(house.calls).not.toContain('certify');
    expect(house.calls).not.toContain('updateAdapter');
  });

  test.each([
    [
      'a judge whose reply fits no group',
      { judgeGroup: async () => ({ ok: false as const, reason: 'short' }) },
    ],
    [
      'a judge that fails for good',
      {
        judgeGroup: async () => {
          throw fatal('refused');
        },
      },
    ],
  ])('%s is a judge error, never a number', async (name, script) => {
    house.play(script);
    expect(await trainStep(name)).toMatchObject({ outcome: 'judge_error' });
    expect(house.calls).not.toContain('certify');
  });

  test('a self-verifier that fails for good leaves the group unlearned', async () => {
    house.play({
      answerQuestions: async () => {
        throw fatal('no model');
      },
    });
    expect(await trainStep('no-self-verifier')).toMatchObject({ outcome: 'self_verifier_error' });
    expect(house.calls).not.toContain('updateAdapter');
  });

  test('of vanilla GRPO asks no question and certifies nothing', async () => {
    house.play({
      planTrainingStep: async () => ({
        ...{ groupId: 'g', taskId: 't', rollouts: 2, quorum: 1, useBank: false, committed: null },
      }),
    });
    expect(await trainStep('grpo')).toMatchObject({ outcome: 'updated' });
    expect(house.calls).not.toContain('answerQuestions');
    expect(house.calls).not.toContain('certify');
  });

  test('without any advantage there is no update', async () => {
    house.play({ buildBatch: async () => ({ batchDigest: null }) });
    expect(await trainStep('no-gradient')).toMatchObject({ outcome: 'no_gradient' });
    expect(house.calls).not.toContain('updateAdapter');
  });

  test('that was committed before does nothing again', async () => {
    const first = await trainStep('once');
    house.play({
      planTrainingStep: async () => ({
        ...{ groupId: 'g', taskId: 't', rollouts: 0, quorum: 6, useBank: true },
        committed: first,
      }),
    });
    expect(await trainStep('again')).toEqual(first);
    expect(house.calls).toEqual(['planTrainingStep']);
  });
});

describe('a training run', () => {
  test('continues as new every 60 steps, paused or not, and grows the bank every M', async () => {
    const runId = 'long';
    const steps = 63;
    const lastOfHistory = 59;
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    house.play({
      planTrainingStep: async (at) => {
        if (at.step === lastOfHistory) await held;
        return committedPlan(at);
      },
    });
    const run = await house.client.workflow.start(trainRunWorkflow, {
      ...{ taskQueue, workflowId: trainRunId(runId) },
      args: [{ runId, shards: 1, steps, growEverySteps: 25 }],
    });
    const shard = house.client.workflow.getHandle(trainShardId(runId, 0));
    while (called('planTrainingStep') <= lastOfHistory) await sleep(50);
    const paused = run.executeUpdate(controls.pause, { args: ['lunch'] });
    await sleep(500);
    letGo();
    await paused;
    // The second history of the shard is there, and waits.
    expect(await eventsOf(trainShardId(runId, 0))).toBeLessThan(20);
    expect((await shard.describe()).status.name).toBe('RUNNING');
    expect(called('planTrainingStep')).toBe(60);

    await run.executeUpdate(controls.resume);
    expect((await run.result()).bankDigest).toHaveLength(64);
    expect(called('planTrainingStep')).toBe(steps);
    expect(called('growBank')).toBe(2);
    expect(called('initialiseAdapter')).toBe(1);
    expect(house.calls.at(-1)).toBe('setRunState');
  }, 180_000);
});

test('a bank whose proposer cannot be had does not grow, and the run goes on', async () => {
  house.play({
    growBank: async () => {
      throw fatal('no proposer');
    },
  });
  const growth = await house.client.workflow.execute(growBankWorkflow, {
    ...{ taskQueue, workflowId: growBankId('mute', 0, 0) },
    args: [{ runId: 'mute', shard: 0, step: 0 }],
  });
  expect(growth).toMatchObject({ accepted: 0, deficiency: null });
});

describe('an evaluation task', () => {
  test('emits the last incumbent of the chain', async () => {
    house.play({
      castVotes: async ({ challenger }) => ({ swap: indexOf(challenger) === 2, votes: ['B', 'B'] }),
    });
    const { selected, swaps } = await evaluateTask('chain');
    expect(selected).toMatch(/rollout\/2$/);
    expect(swaps).toBe(1);
    expect(await eventsOf(evaluateTaskId('chain', 'sandbox/mail/1'))).toBeLessThanOrEqual(90);
  });

  test('has no candidate that infrastructure or a guard ended, but keeps a blocked one', async () => {
    const causes = ['infra', 'blocked', 'invalid'] as const;
    const emitted: (number | null)[] = [];
    house.play({
      rollOut: async ({ rolloutId }) =>
        rolledOut(rolloutId, { kind: 'unscored', cause: causes[indexOf(rolloutId)] ?? 'infra' }),
      recordSelection: async ({ taskId, selected }) => {
        emitted.push(selected);
        const unscored = { kind: 'unscored', cause: 'blocked' } as const;
        return { taskId, selected: null, greedy: unscored, emitted: unscored, swaps: 0 };
      },
    });
    await evaluateTask('blocked');
    expect(emitted).toEqual([1]);
  });

  test('without a candidate is recorded as such', async () => {
    house.play({
      rollOut: async () => {
        throw fatal('no browser');
      },
    });
    expect((await evaluateTask('nobody')).selected).toBeNull();
    expect(house.calls).not.toContain('castVotes');
  });

  test('keeps the incumbent where answers or votes cannot be had', async () => {
    house.play({
      answerQuestions: async ({ rolloutId }) => {
        if (indexOf(rolloutId) === 1) throw fatal('no answers');
        return { states: 1, answers: 1, invalid: 0 };
      },
      castVotes: async () => {
        throw fatal('no votes');
      },
    });
    const { selected } = await evaluateTask('silent');
    expect(selected).toMatch(/rollout\/0$/);
    // Only the comparison between rollouts with answers was tried.
    expect(called('castVotes')).toBe(1);
  });
});

describe('an evaluation suite', () => {
  test('works every task of its list off, never more at a time than its bound', async () => {
    let open = 0;
    let most = 0;
    const seen = new Set<string>();
    house.play({
      planEvaluationTask: async ({ taskId }) => {
        seen.add(taskId);
        open += 1;
        most = Math.max(most, open);
        await sleep(20);
        open -= 1;
        const outcome = { kind: 'failure' } as const;
        const done = { taskId, selected: null, greedy: outcome, emitted: outcome, swaps: 0 };
        return { rollouts: 3, select: true, done };
      },
    });
    await house.client.workflow.execute(evaluateSuiteWorkflow, {
      ...{ taskQueue, workflowId: 'eval/suite' },
      args: [{ runId: 'suite', tasks: 107, concurrency: 5, nextPart: 0 }],
    });
    expect(seen.size).toBe(107);
    expect(most).toBeLessThanOrEqual(5);
  });
});

test('every history of this file replays', async () => {
  const histories = [];
  for await (const { workflowId, runId } of house.client.workflow.list()) {
    const history = await house.client.workflow.getHandle(workflowId, runId).fetchHistory();
    histories.push({ workflowId, history: JSON.parse(historyToJSON(history)) });
  }
  expect(histories.length).toBeGreaterThan(80);
  const replayed = Worker.runReplayHistories({ workflowBundle: house.bundle }, histories);
  for await (const { workflowId, error } of replayed) expect(error, workflowId).toBeUndefined();
});

/** Pausing, resuming, draining and cancelling a training run on real parts, by the commands that people use. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BankStore, createBankStore } from '../../bank-store/index.ts';
import { type Stack, startStack } from '../../infra/stack.ts';
import { trainRunId, trainStepId } from '../../workflows/names.ts';
import { settingsForHome } from '../support/settings.ts';
import { DemoHome, type DemoRun, processesOf, until } from './demo-process.ts';

const run = 'controlled';
const training = ['train', '--config', 'test/end-to-end/small.yaml', '--steps', '200', '--name', run];

describe('a training run', () => {
  const home = new DemoHome();
  let stack: Stack;
  let store: BankStore & { close(): Promise<void> };
  let work: DemoRun;
  const commands: DemoRun[] = [];

  beforeAll(async () => {
    work = begin(...training);
    await until(() => processesOf(home.path, 'workers/worker.ts').length > 0, 'workers');
    stack = await startStack(settingsForHome(home.path));
    store = await createBankStore(stack);
    await until(() => isActing(0), 'rollouts of the first training step');
  });
  afterAll(async () => {
    for (const { child } of commands) child.kill('SIGKILL');
    await store?.close();
    await home.close();
  });

  function begin(...words: readonly string[]): DemoRun {
    const command = home.clift(...words);
    commands.push(command);
    return command;
  }

  /** A command that ends by itself: what it prints as JSON. */
  async function ask(...words: readonly string[]): Promise<unknown> {
    const command = begin(...words, '--json');
    await command.ended();
    if (command.stdout === '') throw new Error(command.stderr);
    return JSON.parse(command.stdout);
  }

  const steps = () => store.trainingSteps(run);
  const open = async () => (await store.rolloutCounts(run)).open;

  async function isActing(from: number): Promise<boolean> {
    const isThere = (await store.listRuns()).some(({ id }) => id === run);
    return isThere && (await steps()).length >= from && (await open()) > 0;
  }

  test('pauses between two training steps, which ends the command that works on it', async () => {
    const paused = { id: run, state: 'paused', stateReason: 'lunch' };
    expect(await ask('pause', run, '--reason', 'lunch')).toEqual(paused);
    expect(await open()).toBe(0);
    const { length } = await steps();
    await work.ended();
    expect(work.stderr).toContain(`${run} is paused: lunch. It is safe to kill now`);
    expect(await steps()).toHaveLength(length);
    // Again, with nobody at work: nothing is there to wait for.
    expect(await ask('pause', run, '--reason', 'tea')).toEqual(paused);
  });

  test('goes on when it is resumed, and survives that its workers are drained', async () => {
    const { length } = await steps();
    work = begin('resume', run);
    await until(() => isActing(length + 1), 'the run to go on');
    const drained = await ask('drain');
    expect(drained).toEqual([
      expect.objectContaining({ roles: expect.any(Array), ended: true }),
      expect.objectContaining({ roles: expect.any(Array), ended: true }),
    ]);
    await work.ended();
    expect(work.stderr).toContain('was drained');
    expect((await store.getRun(run)).state).toBe('running');
  });

  test('is cancelled within ten seconds, browsers included, and for good', async () => {
    const { length } = await steps();
    work = begin(...training);
    await until(() => isActing(length + 1), 'the run to go on');
    const connection = await Connection.connect(stack.temporalConnection);
    const client = new Client({ connection, namespace: stack.namespace });
    const began = performance.now();
    await client.workflow.getHandle(trainRunId(run)).cancel();
    await until(
      async () => (await store.getRun(run)).state === 'cancelled',
      'the cancellation to be recorded',
    );
    expect(performance.now() - began).toBeLessThan(10_000);
    await connection.close();

    expect(await open()).toBe(0);
    const aborted = (await steps()).at(-1);
    expect(aborted?.outcome).toBe('aborted');
    const rollouts = await store.rolloutsOf(trainStepId(run, 0, aborted?.step ?? 0));
    // Those that ended by themselves before they heard of it keep what they have.
    expect(rollouts.length).toBeGreaterThan(0);
    expect(rollouts.filter(({ finished }) => finished === null)).toEqual([]);
    await work.ended();
    expect(work.stderr).toContain(`run ${run} was cancelled`);
    const again = begin(...training);
    await again.ended();
    expect(again.stderr).toContain('for good');
  });

  test('left the history of every workflow that has closed', async () => {
    const ended = new Map((await store.historiesOf(run)).map((one) => [one.workflowId, one.status]));
    const last = (await steps()).length - 1;
    expect(ended.get(trainStepId(run, 0, 0))).toBe('completed');
    expect(ended.get(trainStepId(run, 0, last))).toBe('cancelled');
  });
}, 900_000);

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BankStore, createBankStore } from '../../bank-store/index.ts';
import { startStack } from '../../infra/stack.ts';
import { settingsForHome } from '../support/settings.ts';
import { DemoHome, type DemoResult, type DemoRun, processesOf, until } from './demo-process.ts';

const training = 'demo-s5-1';
const evaluation = `${training}-clift`;

describe('the demo on real parts', () => {
  const calm = new DemoHome();
  const stormy = new DemoHome();
  let undisturbed: DemoResult;

  beforeAll(async () => {
    undisturbed = await calm.start().result();
  }, 400_000);
  afterAll(async () => {
    await calm.close();
    await stormy.close();
  });

  test('reports every arm with a bank, an adapter and selections', () => {
    expect(undisturbed.arms).toHaveLength(3);
  });

  test('leaves no process behind', () => {
    expect(processesOf(calm.path, '')).toEqual([]);
  });

  test('kills of both workers and of the command in the middle change no digest', async () => {
    const demo = await endures(stormy);
    expect((await demo.result()).digests).toEqual(undisturbed.digests);
  }, 900_000);
});

/** Kills the workers and the command one after another, each while it works, and starts the command again where it ended. */
async function endures(home: DemoHome): Promise<DemoRun> {
  let demo = home.start();
  const store = await openStore(home);

  await until(() => isActing(store, training, 0), 'rollouts of the first training step');
  killOne(home, 'workers/worker.ts browser');
  await until(() => committed(store, 1), 'the first training step after the browser worker was killed');

  await until(() => isActing(store, training, 1), 'rollouts of the second training step');
  killOne(home, 'workers/worker.ts orchestrator');
  await until(() => committed(store, 2), 'the second training step after the orchestrator was killed');

  await until(() => isActing(store, training, 2), 'rollouts of the third training step');
  demo.kill('SIGKILL');
  await demo.ended();
  await until(
    () => processesOf(home.path, 'workers/worker.ts').length === 0,
    'workers to end without their command',
  );
  demo = home.start();
  await until(() => committed(store, 4), 'training to go on');

  await until(() => isActing(store, evaluation, 0), 'rollouts of the evaluation');
  demo.kill('SIGINT');
  await demo.ended();
  expect(demo.stderr).toContain('the same command continues');
  await store.close();
  return home.start();
}

/** The store of a demo that is running; waits until its database answers. */
async function openStore(home: DemoHome): Promise<BankStore & { close(): Promise<void> }> {
  const settings = settingsForHome(home.path);
  await until(() => processesOf(home.path, 'workers/worker.ts').length > 0, 'the demo to start its workers');
  return createBankStore(await startStack(settings));
}

/** At least `from` training steps are behind, and a rollout is under way: the victim has work. */
async function isActing(store: BankStore, runId: string, from: number): Promise<boolean> {
  if (!(await store.listRuns()).some(({ id }) => id === runId)) return false;
  const { open } = await store.rolloutCounts(runId);
  return open > 0 && (runId !== training || (await store.trainingSteps(runId)).length >= from);
}

const committed = async (store: BankStore, steps: number) =>
  (await store.trainingSteps(training)).length >= steps;

function killOne(home: DemoHome, text: string): void {
  const pids = processesOf(home.path, text);
  expect(pids, `processes with ${text}`).toHaveLength(1);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

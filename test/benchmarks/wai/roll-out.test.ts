import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evidenceSchema } from '../../../benchmarks/schemas.ts';
import { Grader } from '../../../benchmarks/wai/grader.ts';
import { createScene, killBrowser, type Script } from '../../activities/browser/scene.ts';
import { createTestPool, named, type TestPool } from '../../activities/browser/support.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { createFixture, taskNamed } from './support.ts';

const grader = new Grader(5_000);
const benchmark = createFixture(grader);

let store: Store;
let testPool: TestPool;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
  testPool = await createTestPool();
});
afterAll(async () => {
  grader.close();
  await testPool.close();
});

/** Stars every note, one after the other, and says nothing. */
const starAll: Script = ({ observation }) => {
  const unstarred = observation.elements.find(({ name, role }) => role === 'button' && name === 'Star');
  if (unstarred === undefined) return { tool: 'stop', answer: null };
  return { tool: 'click', ref: unstarred.ref, kind: 'single' };
};

const scene = (taskName: string, script: Script = starAll) =>
  createScene({ store, testPool, script, benchmark, task: taskNamed(benchmark, taskName) });

describe('a rollout on an app of the benchmark', () => {
  test('is graded by the benchmark’s own verifier, again and again from what was stored', async () => {
    const { rollOut, openRollout } = scene('real-m1');
    const summary = await rollOut(await openRollout('solved'));
    expect(summary).toMatchObject({ outcome: { kind: 'success' }, stopReason: 'answered', steps: 3 });
    const { finished } = await store.getRollout('solved');
    const evidence = evidenceSchema.parse(await store.blobs.getJson(finished?.evidenceDigest ?? ''));
    expect(await benchmark.grade(taskNamed(benchmark, 'real-m1'), evidence)).toEqual({
      kind: 'success',
      message: 'not starred: []',
    });
  });

  test('that does nothing fails', async () => {
    const { rollOut, openRollout } = scene('real-m1', () => ({ tool: 'stop', answer: null }));
    expect((await rollOut(await openRollout('idle'))).outcome).toEqual({ kind: 'failure' });
  });

  test('goes on after a browser crash where it was: the app’s state is rebuilt from its actions', async () => {
    const crashing = scene('real-m1', (request, call) => {
      if (call === 1) killBrowser(testPool);
      return starAll(request, call);
    });
    const id = await crashing.openRollout('crashed');
    await expect(crashing.rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    expect((await store.getRollout(id)).steps).toHaveLength(1);
    const undisturbed = await store.getRollout('solved');
    const summary = await crashing.rollOut(id);
    expect(summary).toMatchObject({ attempt: 1, outcome: { kind: 'success' } });
    expect(summary.trajectoryDigest).toBe(undisturbed.finished?.trajectoryDigest);
  });

  test.each([
    ['real-h1', 'KeyError'],
    ['real-h2', 'did not end within 5000 ms'],
    ['real-h3', 'the verifier gave up'],
  ])('whose verifier (%s) is broken is unscored, never a number', async (name, problem) => {
    const { rollOut, openRollout } = scene(name, () => ({ tool: 'stop', answer: null }));
    const summary = await rollOut(await openRollout(name));
    expect(summary.outcome).toEqual({ kind: 'unscored', cause: 'grader_error' });
    expect((await store.getRollout(name)).finished?.verdictMessage).toContain(problem);
  });

  test('that reads the answer key is stopped and invalid, though its final state is right', async () => {
    const { rollOut, openRollout } = scene('real-e1', ({ observation }, call) => {
      if (call > 0) return { tool: 'navigate', url: 'http://notes.wai/real-tasks/task_e1.py' };
      const { ref } = named(observation, 'button', 'Star all, one by one');
      return { tool: 'click', ref, kind: 'single' };
    });
    expect(await rollOut(await openRollout('cheated'))).toMatchObject({
      outcome: { kind: 'unscored', cause: 'invalid' },
      stopReason: 'guard',
      steps: 2,
    });
  });
});

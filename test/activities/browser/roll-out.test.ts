import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { weather } from '../../../activities/failures.ts';
import { evidenceSchema } from '../../../benchmarks/schemas.ts';
import { createStorePlace, type Store, type StorePlace } from '../../bank-store/fixtures.ts';
import {
  createScene,
  killBrowser,
  oracle,
  type Scene,
  type SceneOptions,
  type Script,
  sandbox,
  task,
} from './scene.ts';
import { createTestPool, PENDING, serveSite, type TestPool } from './support.ts';

let place: StorePlace;
let testPool: TestPool;
let store: Store;
beforeAll(async () => {
  place = await createStorePlace();
  store = await place.openStore();
  testPool = await createTestPool();
});
afterAll(() => testPool.close());

const scene = (options: Partial<SceneOptions> = {}): Scene =>
  createScene({ store, testPool, script: oracle, ...options });

/** The oracle, whose browser is killed while it thinks about its third step, once. */
const crashingOracle: Script = (request, call) => {
  if (call === 2) killBrowser(testPool);
  return oracle(request, call);
};

const endings = async (rolloutId: string) => (await store.attemptsOf(rolloutId)).map(({ ending }) => ending);

/** What an undisturbed rollout of the oracle leaves behind. */
let undisturbed: { trajectoryDigest: string | null; steps: number };
beforeAll(async () => {
  const { rollOut, openRollout } = scene();
  undisturbed = await rollOut(await openRollout('undisturbed'));
});

describe('a rollout', () => {
  it('acts, is graded on its evidence, and leaves a record that can be graded again', async () => {
    const whole = scene({ screenshots: 'final' });
    const summary = await whole.rollOut(await whole.openRollout('whole'));
    expect(summary).toMatchObject({ attempt: 1, outcome: { kind: 'success' }, stopReason: 'answered' });
    const { finished, steps } = await store.getRollout('whole');
    expect(steps).toHaveLength(summary.steps);
    expect(whole.asked).toHaveLength(summary.steps);
    expect(steps.length).toBeGreaterThan(3);
    expect(steps[0]?.urlBefore).toBe(task.startUrl);
    expect(steps.at(-1)?.action.tool).toBe('stop');
    expect(steps.map(({ screenshotDigest }) => screenshotDigest !== null).lastIndexOf(false)).toBe(
      steps.length - 2,
    );
    const evidence = evidenceSchema.parse(await store.blobs.getJson(finished?.evidenceDigest ?? ''));
    expect(await sandbox.grade(task, evidence)).toMatchObject({ kind: 'success' });
    expect(await store.blobs.getJson(finished?.finalObservationDigest ?? '')).toMatchObject({
      url: finished?.finalUrl,
    });
    expect(whole.open).toBe(0);
  });

  it('keeps what its browser asked for, also of an attempt that died', async () => {
    const { rollOut, openRollout } = scene({
      benchmark: { resettable: false },
      script: crashingOracle,
    });
    const id = await openRollout('logged');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    await rollOut(id);
    const attempts = await store.attemptsOf(id);
    expect(attempts.map(({ ending }) => ending)).toEqual([expect.stringContaining('reset'), 'finished']);
    for (const { requestLogDigest } of attempts) {
      expect(await store.blobs.getJson(requestLogDigest ?? 'none')).toMatchObject({
        requests: expect.arrayContaining([
          { atMs: expect.any(Number), method: 'GET', url: task.startUrl, status: 200, flags: [] },
        ]),
        dropped: 0,
      });
    }
  });

  it('that has finished is not run again', async () => {
    const { rollOut, openRollout, asked } = scene();
    const id = await openRollout('once');
    const first = await rollOut(id);
    const calls = asked.length;
    expect(await rollOut(id)).toEqual(first);
    expect(asked).toHaveLength(calls);
  });

  it('twice from the same seed leaves the same trajectory', async () => {
    const { rollOut, openRollout } = scene();
    expect((await rollOut(await openRollout('again'))).trajectoryDigest).toBe(undisturbed.trajectoryDigest);
  });

  it('that used up its steps is graded like any other', async () => {
    const { rollOut, openRollout } = scene({ script: () => ({ tool: 'wait' }) });
    expect(await rollOut(await openRollout('idle', { maxSteps: 3 }))).toMatchObject({
      outcome: { kind: 'failure' },
      stopReason: 'step_budget',
      steps: 3,
    });
  });

  it('that declares its task infeasible ends', async () => {
    const { rollOut, openRollout } = scene({
      script: () => ({ tool: 'infeasible', reason: 'no such letter' }),
    });
    expect(await rollOut(await openRollout('infeasible'))).toMatchObject({
      stopReason: 'infeasible',
      steps: 1,
    });
  });

  it('whose guard trips is invalid, never a number', async () => {
    const environment: SceneOptions['environment'] = () => ({
      flags: () => [{ rule: 'answer-key', detail: '/answers', invalidates: true }],
    });
    const { rollOut, openRollout } = scene({ environment });
    expect(await rollOut(await openRollout('guarded'))).toMatchObject({
      outcome: { kind: 'unscored', cause: 'invalid' },
      stopReason: 'guard',
    });
  });

  it('whose grader fails is unscored, never a number', async () => {
    const grade = () => Promise.reject(new Error('the verifier has a defect'));
    const { rollOut, openRollout } = scene({ benchmark: { grade } });
    const summary = await rollOut(await openRollout('ungradable'));
    expect(summary.outcome).toEqual({ kind: 'unscored', cause: 'grader_error' });
    expect((await store.getRollout('ungradable')).finished?.verdictMessage).toContain('defect');
  });

  it('draws its randomness from the seed and the step alone', async () => {
    const { rollOut, openRollout, asked } = scene();
    await rollOut(await openRollout('seeded', { seed: [7, 0, 3, task.id, 2], temperature: 0.5 }));
    expect(asked.map(({ seed, temperature }) => [seed, temperature])).toEqual(
      asked.map((_, index) => [[7, 0, 3, task.id, 2, index], 0.5]),
    );
  });
});

describe('a policy that looks at pages', () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  );

  /** The task with an image that belongs to it. */
  const pictured = (name: string, digest: string): Partial<SceneOptions> => ({
    task: { ...task, id: `${task.id}-${name}`, imageDigests: [digest] },
    benchmark: {
      open: (_, signal) => sandbox.open(task, signal),
      grade: (_, evidence) => sandbox.grade(task, evidence),
    },
  });

  it('is shown each page with its refs, and the images of the task', async () => {
    const digest = await store.blobs.put(png);
    const { rollOut, openRollout, asked } = scene({ ...pictured('pictured', digest), looksAtImages: true });
    const summary = await rollOut(await openRollout('looking'));
    expect(asked).toHaveLength(summary.steps);
    for (const { images = [] } of asked) {
      expect(images.map(({ mediaType, label }) => [mediaType, label])).toEqual([
        ['image/jpeg', 'The page, each element marked with its id'],
        ['image/png', 'Image 1 of 1 that belongs to the task'],
      ]);
      expect(
        Buffer.from(images[0]?.base64 ?? '', 'base64')
          .subarray(0, 3)
          .toString('hex'),
      ).toBe('ffd8ff');
      expect(images[1]?.base64).toBe(png.toString('base64'));
    }
  });

  it('is asked once for each step, whatever pixel differs after a crash', async () => {
    const looking = scene({
      looksAtImages: true,
      script: crashingOracle,
    });
    const id = await looking.openRollout('looking again');
    await expect(looking.rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    expect((await looking.rollOut(id)).trajectoryDigest).toBe(undisturbed.trajectoryDigest);
    expect(looking.asked).toHaveLength(undisturbed.steps);
  });

  it('is not asked at all about an image that no model takes', async () => {
    const digest = await store.blobs.put(Buffer.from('GIF89a'));
    const { rollOut, openRollout, asked } = scene({ ...pictured('gif', digest), looksAtImages: true });
    await expect(rollOut(await openRollout('gif'))).rejects.toThrow('Image 1 of 1');
    expect(asked).toHaveLength(0);
  });

  it('gets no pictures where it does not look', async () => {
    const { rollOut, openRollout, asked } = scene();
    await rollOut(await openRollout('blind'));
    expect(asked.every(({ images }) => images === undefined)).toBe(true);
  });
});

describe('after a crash', () => {
  it('of the browser the attempt is resumed: no call is repeated, and the trajectory is the undisturbed one', async () => {
    const crashed = scene({
      script: crashingOracle,
    });
    const id = await crashed.openRollout('crashed');
    await expect(crashed.rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed', nonRetryable: false });
    expect((await store.getRollout(id)).steps).toHaveLength(2);
    const summary = await crashed.rollOut(id);
    expect(summary.trajectoryDigest).toBe(undisturbed.trajectoryDigest);
    expect(crashed.asked).toHaveLength(undisturbed.steps);
    expect(await endings(id)).toEqual(['finished']);
    expect(crashed.open).toBe(0);
  });

  it('an application or a browser that does not start again does not cost the attempt', async () => {
    let lives = 0;
    const { rollOut, openRollout, asked } = scene({
      benchmark: {
        open: (opened, signal) => {
          lives += 1;
          if (lives === 2) throw new Error('port in use');
          return sandbox.open(opened, signal);
        },
      },
      script: crashingOracle,
    });
    const id = await openRollout('not started again');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'NetworkDown' });
    expect((await rollOut(id)).trajectoryDigest).toBe(undisturbed.trajectoryDigest);
    expect(asked).toHaveLength(undisturbed.steps);
    expect(await endings(id)).toEqual(['finished']);
  });

  it('a result that the store had to mend is still the same result', async () => {
    // The note of what was found is cut in the middle of the emoji.
    const site = await serveSite({ [task.startUrl]: `<p>needle ${'-'.repeat(72)}🙂</p>` });
    onTestFinished(() => site.close());
    const { rollOut, openRollout } = scene({
      environment: () => ({ proxyServer: site.proxyServer, pendingExpression: PENDING }),
      script: (_, call) => {
        if (call === 0) return { tool: 'find', text: 'needle' };
        if (call === 1) killBrowser(testPool);
        return { tool: 'stop', answer: null };
      },
    });
    const id = await openRollout('mended');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    expect(await rollOut(id)).toMatchObject({ attempt: 1, steps: 2 });
  });

  it('a model that fails does not cost the attempt', async () => {
    const { rollOut, openRollout, asked } = scene({
      script: (request, call) => {
        if (call === 1) throw weather('ProviderUnavailable', 'bad gateway');
        return oracle(request, call);
      },
    });
    const id = await openRollout('unlucky');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'ProviderUnavailable' });
    expect((await rollOut(id)).trajectoryDigest).toBe(undisturbed.trajectoryDigest);
    expect(asked).toHaveLength(undisturbed.steps + 1);
    expect(await endings(id)).toEqual(['finished']);
  });

  it.each([
    ['the start', { initialStateDigest: 'another' }, 'resets to another state'],
    ['a later state', { stateDigest: async () => 'another' }, 'the application is in another state'],
  ])(
    '%s that is not as recorded begins the next attempt and keeps the old one',
    async (name, change, cause) => {
      const { rollOut, openRollout, asked } = scene({
        environment: (_, life) => (life === 1 ? change : {}),
        script: crashingOracle,
      });
      const id = await openRollout(`differs at ${name}`);
      await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
      expect(await rollOut(id)).toMatchObject({ attempt: 2, outcome: { kind: 'success' } });
      expect(await endings(id)).toEqual([expect.stringContaining(cause), 'finished']);
      expect(asked.slice(3).map(({ seed }) => seed.at(-1))).toEqual(asked.slice(3).map((_, index) => index));
    },
  );

  it('a site that cannot be reset is begun anew', async () => {
    const { rollOut, openRollout } = scene({
      benchmark: { resettable: false },
      script: crashingOracle,
    });
    const id = await openRollout('live');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    expect(await rollOut(id)).toMatchObject({ attempt: 2, outcome: { kind: 'success' } });
    expect(await endings(id)).toEqual([expect.stringContaining('cannot be reset'), 'finished']);
  });

  it('a step that kills the browser again and again is paid for once, and ends the rollout as unscored: infra', async () => {
    const { rollOut, openRollout, asked } = scene({
      environment: (environment) => ({
        stateDigest: async () => {
          if (asked.length > 2) killBrowser(testPool);
          return environment.stateDigest();
        },
      }),
    });
    const id = await openRollout('poisoned');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    const calls = asked.length;
    let tries = 1;
    let summary = null;
    while (summary === null && tries < 8) {
      tries += 1;
      summary = await rollOut(id).catch(() => null);
    }
    expect(summary).toMatchObject({
      attempt: 1,
      outcome: { kind: 'unscored', cause: 'infra' },
      stopReason: 'died',
    });
    expect(asked).toHaveLength(calls);
    expect((await store.getRollout(id)).steps.length).toBeGreaterThan(1);
  });

  it('three lives in a row without a step end the rollout as unscored: infra', async () => {
    const open = () => Promise.reject(new Error('port in use'));
    const { rollOut, openRollout, asked } = scene({ benchmark: { open } });
    const id = await openRollout('barren');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'NetworkDown' });
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'NetworkDown' });
    expect(await rollOut(id)).toMatchObject({
      outcome: { kind: 'unscored', cause: 'infra' },
      stopReason: 'died',
    });
    expect(asked).toHaveLength(0);
    expect((await store.getRollout(id)).finished?.verdictMessage).toContain('port in use');
    expect(await endings(id)).toEqual([expect.stringContaining('3 lives in a row')]);
  });

  it('lives without a step on a site that cannot be reset are attempts of their own, three in a row at most', async () => {
    const open = () => Promise.reject(new Error('no route to host'));
    const { rollOut, openRollout } = scene({ benchmark: { open, resettable: false } });
    const id = await openRollout('barren and live');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'NetworkDown' });
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'NetworkDown' });
    expect(await rollOut(id)).toMatchObject({ outcome: { kind: 'unscored', cause: 'infra' } });
    expect(await endings(id)).toEqual(Array(4).fill(expect.stringContaining('no route to host')));
  });
});

it('an adapter whose file is gone costs no rollout: it stops the run until the file is back', async () => {
  const { rollOut, openRollout } = scene();
  const id = await openRollout('no adapter', { adapterDigest: 'a'.repeat(64) });
  await expect(rollOut(id)).rejects.toMatchObject({ type: 'BasisLost', nonRetryable: true });
  expect((await store.getRollout(id)).finished).toBeNull();
});

describe('a worker that was given up', () => {
  it('cannot write once another one has taken its attempt over', async () => {
    const { rollOut, openRollout } = scene({
      script: async (request, call) => {
        if (call === 2) await store.claimAttempt('taken', 'another worker');
        return oracle(request, call);
      },
    });
    const id = await openRollout('taken');
    await expect(rollOut(id)).rejects.toMatchObject({ name: 'FencedError' });
    expect((await store.getRollout(id)).steps).toHaveLength(2);
    expect((await rollOut(id)).trajectoryDigest).toBe(undisturbed.trajectoryDigest);
  });

  it('stops acting when it is cancelled, and closes what it opened', async () => {
    const controller = new AbortController();
    const cancelled = scene({
      script: (request, call) => {
        if (call === 1) controller.abort(new Error('cancelled by the workflow'));
        return oracle(request, call);
      },
    });
    const id = await cancelled.openRollout('cancelled');
    await expect(cancelled.rollOut(id, controller.signal)).rejects.toThrow('cancelled by the workflow');
    expect(cancelled.open).toBe(0);
    expect((await store.getRollout(id)).steps.length).toBeLessThan(undisturbed.steps);
    expect(await endings(id)).toEqual(['open']);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { digestOf } from '../../bank-store/canonical-json.ts';
import type { StepRecord } from '../../bank-store/contract.ts';
import { ContentConflict, FencedError, NotFound, StepGap } from '../../bank-store/index.ts';
import { trajectoryDocument } from '../../bank-store/trajectory.ts';
import { createStorePlace, ending, rollout, run, type Store, stepAt, task } from './fixtures.ts';

const { openStore } = await createStorePlace();
const [store, other] = await Promise.all([openStore(), openStore()]);

beforeAll(async () => {
  await store.createRun(run);
  await store.registerTasks([task]);
});

async function open(id: string) {
  await store.openRollouts([rollout(id)]);
  return id;
}

test('a rollout opened twice is one rollout; with other content it is refused', async () => {
  const id = await open('opened');
  await Promise.all([store, other].map((each) => each.openRollouts([rollout(id)])));
  await expect(store.openRollouts([rollout(id, { temperature: 0 })])).rejects.toThrow(ContentConflict);
  expect(await store.getRollout(id)).toEqual({ rollout: rollout(id), finished: null, steps: [] });
});

test('two rollouts cannot have one place among their siblings', async () => {
  await store.openRollouts([rollout('sibling a', { ownerId: 'crowded' })]);
  await expect(store.openRollouts([rollout('sibling b', { ownerId: 'crowded' })])).rejects.toThrow(
    ContentConflict,
  );
});

test('steps come back as they were recorded, to the last bit', async () => {
  const id = await open('bits');
  const { fence } = await store.claimAttempt(id, 'w');
  const numbers = { logProbs: [-1e-320, -0.1 - 0.2, -1.7976931348623157e308], decideMs: 1 / 3 };
  const steps = [
    stepAt(0, { ...numbers, target: null, screenshotDigest: null, stateDigest: null, toolCallSpan: null }),
    stepAt(1, { action: { tool: 'stop', answer: 'done \ud83d\ude00 \u2028' }, result: refusal }),
  ];
  for (const step of steps) await store.recordStep(id, fence, step);
  expect((await other.getRollout(id)).steps).toEqual(steps);
});

const requestLogDigest = 'ab'.repeat(32);

const refusal = { ok: false, code: 'covered', message: 'a dialog lies over it' } as const;

test('a claim takes the open attempt over with its steps, and the worker before it is fenced out of every write', async () => {
  const id = await open('taken over');
  const zombie = await store.claimAttempt(id, 'first');
  await store.confirmInitialState(id, zombie.fence, 'reset');
  await store.recordStep(id, zombie.fence, stepAt(0));
  const heir = await other.claimAttempt(id, 'second');
  expect(heir).toMatchObject({ attempt: 1, steps: [stepAt(0)], initialStateDigest: 'reset', finished: null });
  expect(heir.fence).toBeGreaterThan(zombie.fence);
  const writes = [
    () => store.recordStep(id, zombie.fence, stepAt(1)),
    () => store.recordStep(id, zombie.fence, stepAt(0)),
    () => store.confirmInitialState(id, zombie.fence, 'reset'),
    () => store.keepRequestLog(id, zombie.fence, requestLogDigest),
    () => store.abandonAttempt(id, zombie.fence, 'gave up'),
    () => store.finishRollout(id, zombie.fence, ending),
  ];
  for (const write of writes) await expect(write()).rejects.toThrow(FencedError);
  await other.recordStep(id, heir.fence, stepAt(1));
  expect(await store.attemptsOf(id)).toEqual([
    { attempt: 1, worker: 'second', steps: 2, ending: 'open', requestLogDigest: null },
  ]);
});

test('however a takeover races with a writer, the heir sees every step that the zombie got through', async () => {
  for (let round = 0; round < 12; round += 1) {
    const id = await open(`race ${round}`);
    const { fence } = await store.claimAttempt(id, 'zombie');
    const [acknowledged, heir] = await Promise.all([
      recordUntilFenced(store, id, fence),
      sleep(round * 3).then(() => other.claimAttempt(id, 'heir')),
    ]);
    expect(heir.steps).toEqual(Array.from({ length: acknowledged }, (_, index) => stepAt(index)));
    expect((await store.getRollout(id)).steps).toEqual(heir.steps);
  }
});

/** Returns how many steps were acknowledged. */
async function recordUntilFenced(by: Store, id: string, fence: number): Promise<number> {
  for (let index = 0; ; index += 1) {
    try {
      await by.recordStep(id, fence, stepAt(index));
    } catch (error) {
      expect(error).toBeInstanceOf(FencedError);
      return index;
    }
  }
}

test('claims that race get different fences, and only the highest one may write', async () => {
  const id = await open('claimed by many');
  const claims = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? store : other).claimAttempt(id, `w${index}`)),
  );
  const fences = claims.map(({ fence }) => fence);
  expect(new Set(fences).size).toBe(10);
  const writes = await Promise.allSettled(fences.map((fence) => store.recordStep(id, fence, stepAt(0))));
  const winners = fences.filter((_, index) => writes[index]?.status === 'fulfilled');
  expect(winners).toEqual([Math.max(...fences)]);
  expect(await store.attemptsOf(id)).toHaveLength(1);
});

test('a step recorded again is recorded once, also by two connections at the same time', async () => {
  const id = await open('repeated');
  const { fence } = await store.claimAttempt(id, 'w');
  for (let index = 0; index < 5; index += 1) {
    await Promise.all([store, other, store, other].map((each) => each.recordStep(id, fence, stepAt(index))));
  }
  expect((await store.getRollout(id)).steps).toEqual([0, 1, 2, 3, 4].map((index) => stepAt(index)));
});

test.each<[string, Partial<StepRecord>]>([
  ['action', { action: { tool: 'back' } }],
  ['result', { result: refusal }],
  ['log-probabilities', { logProbs: [-0.1, -2e-17] }],
  ['state digest', { stateDigest: null }],
])('another %s under a recorded index is refused and the recorded one stays', async (name, change) => {
  const id = await open(`conflict of ${name}`);
  const { fence } = await store.claimAttempt(id, 'w');
  await store.recordStep(id, fence, stepAt(0));
  await expect(store.recordStep(id, fence, stepAt(0, change))).rejects.toThrow(ContentConflict);
  expect((await store.getRollout(id)).steps).toEqual([stepAt(0)]);
});

test('a step cannot be skipped', async () => {
  const id = await open('gap');
  const { fence } = await store.claimAttempt(id, 'w');
  await expect(store.recordStep(id, fence, stepAt(1))).rejects.toThrow(StepGap);
  await store.recordStep(id, fence, stepAt(0));
  await expect(store.recordStep(id, fence, stepAt(2))).rejects.toThrow('has index 1, not 2');
});

test('a step that could not be read back is refused before it is written', async () => {
  const id = await open('unreadable');
  const { fence } = await store.claimAttempt(id, 'w');
  await expect(store.recordStep(id, fence, stepAt(0, { promptDigest: '../x' }))).rejects.toThrow(
    'promptDigest',
  );
  await expect(store.recordStep(id, fence, stepAt(0, { logProbs: [Number.NaN] }))).rejects.toThrow(
    'logProbs',
  );
  expect((await store.getRollout(id)).steps).toEqual([]);
});

test('the first initial state is recorded, the same one confirmed, another one denied', async () => {
  const id = await open('reset');
  const { fence } = await store.claimAttempt(id, 'w');
  expect(await store.confirmInitialState(id, fence, 'bytes')).toBe(true);
  expect(await store.confirmInitialState(id, fence, 'bytes')).toBe(true);
  expect(await store.confirmInitialState(id, fence, 'other bytes')).toBe(false);
  expect((await store.claimAttempt(id, 'w')).initialStateDigest).toBe('bytes');
});

test('every attempt is kept with its cause of death, and the next one begins empty', async () => {
  const id = await open('dies');
  const first = await store.claimAttempt(id, 'w1');
  await store.confirmInitialState(id, first.fence, 'reset');
  await store.recordStep(id, first.fence, stepAt(0));
  await store.keepRequestLog(id, first.fence, requestLogDigest);
  const second = await store.abandonAttempt(id, first.fence, 'browser crashed\0');
  expect(second).toMatchObject({ attempt: 2, steps: [], initialStateDigest: null, finished: null });
  await expect(store.recordStep(id, first.fence, stepAt(1))).rejects.toThrow(FencedError);
  await store.recordStep(id, second.fence, stepAt(0, { urlAfter: 'http://mail.sandbox/other' }));
  const finished = await store.finishRollout(id, second.fence, ending);
  expect(finished).toMatchObject({ attempt: 2, steps: 1 });
  expect(await store.attemptsOf(id)).toEqual([
    { attempt: 1, worker: 'w1', steps: 1, ending: 'browser crashed\ufffd', requestLogDigest },
    { attempt: 2, worker: 'w1', steps: 1, ending: 'finished', requestLogDigest: null },
  ]);
  expect((await store.getRollout(id)).steps).toEqual([stepAt(0, { urlAfter: 'http://mail.sandbox/other' })]);
});

test('interruptions in a row are counted until a step is recorded, by whoever holds the attempt', async () => {
  const id = await open('interrupted');
  const first = await store.claimAttempt(id, 'w1');
  expect(await store.noteInterruption(id, first.fence)).toBe(1);
  expect(await store.noteInterruption(id, first.fence)).toBe(2);
  const { fence } = await other.claimAttempt(id, 'w2');
  await expect(store.noteInterruption(id, first.fence)).rejects.toThrow(FencedError);
  expect(await other.noteInterruption(id, fence)).toBe(3);
  await other.recordStep(id, fence, stepAt(0));
  expect(await other.noteInterruption(id, fence)).toBe(1);
  expect(await store.attemptsOf(id)).toMatchObject([{ attempt: 1, steps: 1, ending: 'open' }]);
});

test('barren attempts are the dead ones without a step since the last that had one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 2 }), { maxLength: 6 }),
      fc.uuid(),
      async (stepsOfAttempts, id) => {
        await open(id);
        let claim = await store.claimAttempt(id, 'w');
        expect(claim.barrenAttempts).toBe(0);
        let barren = 0;
        for (const steps of stepsOfAttempts) {
          for (let index = 0; index < steps; index += 1)
            await store.recordStep(id, claim.fence, stepAt(index));
          claim = await store.abandonAttempt(id, claim.fence, 'died');
          barren = steps > 0 ? 0 : barren + 1;
          expect(claim.barrenAttempts).toBe(barren);
        }
        const heir = await other.claimAttempt(id, 'w');
        expect(heir.barrenAttempts).toBe(barren);
        await other.recordStep(id, heir.fence, stepAt(0));
        expect((await store.claimAttempt(id, 'w')).barrenAttempts).toBe(barren);
      },
    ),
    { numRuns: 12 },
  );
});

test('a rollout finishes once: of writers that race one wins, and it is never reopened', async () => {
  const id = await open('finishes');
  const { fence } = await store.claimAttempt(id, 'w');
  await store.recordStep(id, fence, stepAt(0));
  const endings = ['a', 'b', 'a', 'b'].map((answer) => ({ ...ending, answer }));
  const outcomes = await Promise.allSettled(
    endings.map((each, index) => (index % 2 ? store : other).finishRollout(id, fence, each)),
  );
  const { finished } = await store.getRollout(id);
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(finished);
    else expect(outcome.reason).toBeInstanceOf(ContentConflict);
    expect(outcome.status === 'fulfilled').toBe(endings[index]?.answer === finished?.answer);
  }
  const late = await other.claimAttempt(id, 'late');
  expect(late).toMatchObject({ attempt: 1, fence, finished, steps: [stepAt(0)] });
  await expect(store.recordStep(id, fence, stepAt(1))).rejects.toThrow(FencedError);
  await expect(store.abandonAttempt(id, fence, 'too late')).rejects.toThrow(FencedError);
  expect((await store.getRollout(id)).finished).toEqual(finished);
});

test('a takeover that races with finishing either gets the record or fences the finisher out', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await open(`finish race ${round}`);
    const { fence } = await store.claimAttempt(id, 'w');
    const [finish, claim] = await Promise.allSettled([
      store.finishRollout(id, fence, ending),
      other.claimAttempt(id, 'heir'),
    ]);
    if (claim.status === 'rejected') throw claim.reason;
    const { finished } = await store.getRollout(id);
    if (finish.status === 'fulfilled') expect(claim.value.finished).toEqual(finish.value);
    else expect(finish.reason).toBeInstanceOf(FencedError);
    expect(claim.value.finished).toEqual(finished);
    expect(finish.status === 'fulfilled').toBe(finished !== null);
  }
});

test('the trajectory digest is that of a blob which leaves out clocks and pixels and nothing else', async () => {
  const digestWith = async (id: string, step: Partial<StepRecord>, answer = 'done') => {
    await open(id);
    const { fence } = await store.claimAttempt(id, 'w');
    await store.recordStep(id, fence, stepAt(0, step));
    return (await store.finishRollout(id, fence, { ...ending, answer })).trajectoryDigest;
  };
  const digest = await digestWith('t0', {});
  const clocks = { decideMs: 9, actMs: 9, settleMs: 9, observeMs: 9, screenshotDigest: null };
  expect(await digestWith('t1', clocks)).toBe(digest);
  const changes: Partial<StepRecord>[] = [{ urlAfter: 'x' }, { stateDigest: 'x' }, { tokenIds: [1, 2] }];
  for (const [index, change] of changes.entries()) {
    expect(await digestWith(`t2 ${index}`, change)).not.toBe(digest);
  }
  expect(await digestWith('t3', {}, 'other')).not.toBe(digest);
  const { rollout: opened, steps } = await store.getRollout('t0');
  expect(digestOf(trajectoryDocument(opened.taskId, steps, ending))).toBe(digest);
  expect(digestOf(await store.blobs.getJson(digest))).toBe(digest);
});

test('a rollout that no attempt could finish is unscored, keeps its attempts and fences the last worker out', async () => {
  const id = await open('hopeless');
  const { fence } = await store.claimAttempt(id, 'w');
  await store.recordStep(id, fence, stepAt(0));
  await store.failRollout(id, { kind: 'unscored', cause: 'infra' }, 'three browsers crashed');
  await store.failRollout(id, { kind: 'unscored', cause: 'blocked' }, 'a later opinion');
  await expect(store.recordStep(id, fence, stepAt(1))).rejects.toThrow(FencedError);
  await expect(store.finishRollout(id, fence, ending)).rejects.toThrow(FencedError);
  const { finished } = await store.claimAttempt(id, 'again');
  expect(finished).toMatchObject({
    outcome: { kind: 'unscored', cause: 'infra' },
    stopReason: 'died',
    answer: null,
    attempt: 1,
    steps: 1,
    verdictMessage: 'three browsers crashed',
  });
  expect(await store.attemptsOf(id)).toMatchObject([{ ending: 'three browsers crashed' }]);
});

test('a rollout can fail before any attempt began, and a finished one cannot fail any more', async () => {
  const never = await open('never began');
  await store.failRollout(never, { kind: 'unscored', cause: 'infra' }, 'no worker');
  expect((await store.getRollout(never)).finished).toMatchObject({ attempt: 0, steps: 0 });
  const done = await open('done before');
  const { fence } = await store.claimAttempt(done, 'w');
  const finished = await store.finishRollout(done, fence, ending);
  await store.failRollout(done, { kind: 'unscored', cause: 'infra' }, 'late timeout');
  expect((await store.getRollout(done)).finished).toEqual(finished);
});

test('a rollout that was never opened is not found', async () => {
  await expect(store.claimAttempt('nobody', 'w')).rejects.toThrow(NotFound);
  await expect(store.recordStep('nobody', 1, stepAt(0))).rejects.toThrow(NotFound);
  await expect(store.getRollout('nobody')).rejects.toThrow(NotFound);
  await expect(store.failRollout('nobody', { kind: 'failure' }, '')).rejects.toThrow(NotFound);
});

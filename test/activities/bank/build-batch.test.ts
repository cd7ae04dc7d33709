import { beforeAll, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../activities/bank/build-batch.ts';
import { certify } from '../../../activities/bank/certify.ts';
import type { Batch } from '../../../models/contract.ts';
import type { Hyperparameters } from '../../../workflows/method/hyperparameters.ts';
import { createStorePlace, question, type Store } from '../../bank-store/fixtures.ts';
import {
  failure,
  giveCertificates,
  inForce,
  infra,
  type Member,
  playGroup,
  startTraining,
  type Training,
} from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const search = 'http://shop.example/search';
const item = 'http://shop.example/item/12';
const cart = 'http://shop.example/cart';
const help = 'http://help.example/';

const asked = (url: string, q1: number, q2: number | null, q3: number | null) => [
  { url, qid: 'q1', pYes: q1 },
  { url, qid: 'q2', pYes: q2 },
  { url, qid: 'q3', pYes: q3 },
];

/** METHOD 4.6, with the order of the rollouts and the numbers of its table. */
const workedExample: readonly Member[] = [
  {
    urls: [search, item, cart, cart],
    ...{ score: 0.9, stepScores: [0.5, 0.7, 0.9] },
    answers: [
      ...asked(search, 0.8, 0.1, null),
      ...asked(item, 0.9, 0.2, 0.9),
      ...asked(cart, 1.0, 0.0, null),
    ],
  },
  {
    urls: [search, item, item, item],
    ...{ score: 0.4, stepScores: [0.5, 0.6, 0.2], outcome: failure },
    answers: [...asked(search, 0.8, 0.3, null), ...asked(item, 0.6, 0.9, 0.5)],
  },
  {
    urls: [search, help, item, item],
    ...{ score: 0.5, stepScores: [0.4, 0.3, 0.6], outcome: failure },
    answers: [
      ...asked(search, 0.2, 0.5, null),
      ...asked(help, 0.1, null, null),
      ...asked(item, 0.7, 0.4, 0.8),
    ],
  },
];

// biome-ignore-start lint/suspicious/noApproximativeNumericConstant: they are the table's numbers, not the root of ½.
/** Column A of the table. */
const advantagesOfExample = [
  [1.154335, 0.707106, 0.949661],
  [-0.552091, -0.707106, -0.707105],
  [-0.602245, -0.441217, 0.707105],
];
// biome-ignore-end lint/suspicious/noApproximativeNumericConstant: see above.

const certificatesOfExample = [
  inForce('q1', 0.54),
  inForce('q2', -0.2, { tier: 'host', key: 'h:shop.example' }),
  inForce('q3', 0.3, { tier: 'path', key: 'p:shop.example/item/:n' }),
];

async function startExample(
  runId: string,
  hyperparameters: Partial<Hyperparameters> = {},
): Promise<Training> {
  const training = await startTraining(store, runId, {
    questions: [question('q1'), question('q2', { polarity: -1 }), question('q3')],
    hyperparameters,
  });
  await giveCertificates(store, training.at(0), certificatesOfExample);
  return training;
}

async function batchOf(training: Training, step: number): Promise<Batch | null> {
  const { batchDigest } = await buildBatch(store, training.at(step));
  if (batchDigest === null) return null;
  // What was written is what the trainer's door will parse again.
  const json: Batch = JSON.parse(Buffer.from(await store.blobs.get(batchDigest)).toString());
  return json;
}

const advantages = (batch: Batch | null, rolloutIds: readonly string[]) =>
  rolloutIds.map((id) =>
    batch?.steps.filter(({ rolloutId }) => rolloutId === id).map(({ advantage }) => advantage),
  );

describe('building the batch of a training step', () => {
  it('gives the advantages of the worked example of METHOD 4.6', async () => {
    const training = await startExample('batch-example');
    const rolloutIds = await playGroup(training, 1, workedExample);
    const batch = await batchOf(training, 1);
    const found = advantages(batch, rolloutIds);
    for (const [i, row] of advantagesOfExample.entries()) {
      for (const [t, advantage] of row.entries()) expect(found[i]?.[t]).toBeCloseTo(advantage, 6);
    }
    // Means over the table's columns j and r.
    expect(batch?.summary.reward).toBeCloseTo(5.121316 / 9, 6);
    expect(batch?.summary.verifier).toBeCloseTo((5.121316 - 4.7) / 9, 6);
    expect(batch?.summary.deadShare).toBe(0);
    expect(batch?.steps[4]).toMatchObject({
      ...{ rolloutId: rolloutIds[1], index: 1, tokenIds: [1], oldLogProbs: [-0.5], toolCallSpan: [0, 1] },
    });
  });

  it('gives every step of a rollout its GRPO advantage when no bank is used', async () => {
    const training = await startExample('batch-grpo', { useBank: false });
    const rolloutIds = await playGroup(training, 1, workedExample);
    const batch = await batchOf(training, 1);
    const found = advantages(batch, rolloutIds);
    for (const [i, advantage] of [1.13389, -0.75593, -0.37796].entries()) {
      expect(found[i]).toHaveLength(3);
      for (const value of found[i] ?? []) expect(value).toBeCloseTo(advantage, 5);
    }
    expect(batch?.summary.verifier).toBe(0);
  });

  it('uses the snapshot before the step: its own certification changes nothing', async () => {
    const training = await startTraining(store, 'batch-snapshot', {
      questions: [question('q1')],
      hyperparameters: { certifier: 'naive', nMin: 2 },
    });
    const group = [1, 0, 0.4].map(
      (score): Member => ({
        ...{ urls: [search, search, search], score, stepScores: [0.5, 0.1 * score] },
        answers: [{ url: search, qid: 'q1', pYes: score }],
      }),
    );
    await playGroup(training, 0, group);
    const before = await buildBatch(store, training.at(0));
    expect((await certify(store, training.at(0))).certified).toBe(3);
    expect(await buildBatch(store, training.at(0))).toEqual(before);
    expect((await batchOf(training, 0))?.summary.verifier).toBe(0);

    await playGroup(training, 1, group);
    expect((await batchOf(training, 1))?.summary.verifier).toBeGreaterThan(0);
  });

  it('has the same digest whenever it is built', async () => {
    const training = await startExample('batch-digest');
    await playGroup(training, 1, workedExample);
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => buildBatch(store, training.at(1))));
    expect(first?.batchDigest).toMatch(/^[0-9a-f]{64}$/);
    for (const other of others) expect(other).toEqual(first);
  });

  it('leaves out rollouts without a verdict or a judgement, as if the group were smaller', async () => {
    const withGaps = await startExample('batch-gaps', { groupSize: 5 });
    const gaps: readonly Member[] = [
      { urls: [search, help], score: 0, outcome: infra },
      ...workedExample,
      { urls: [search, help], outcome: failure },
    ];
    const rolloutIds = await playGroup(withGaps, 1, gaps);
    const batch = await batchOf(withGaps, 1);
    const found = advantages(batch, rolloutIds);
    expect([found[0], found[4]]).toEqual([[], []]);
    const whole = await startExample('batch-whole');
    const ids = await playGroup(whole, 1, workedExample);
    expect(found.slice(1, 4)).toEqual(advantages(await batchOf(whole, 1), ids));
  });

  it('falls back on the trajectory score where the judge scored no steps', async () => {
    const training = await startTraining(store, 'batch-unscored-steps');
    await playGroup(training, 0, [
      { urls: [search, search], score: 0.25, stepScores: [] },
      { urls: [search, search], score: 0.75, stepScores: [] },
    ]);
    expect((await batchOf(training, 0))?.summary.reward).toBe(0.5);
  });

  it('calls a step dead only where no stratum varies, not where its own return is the mean', async () => {
    const training = await startTraining(store, 'batch-dead');
    const oneStep = (score: number, url = search): Member => ({ urls: [url, url], score });
    await playGroup(training, 0, [oneStep(0.25), oneStep(0.5), oneStep(0.75)]);
    const batch = await batchOf(training, 0);
    expect(batch?.steps.map(({ advantage }) => advantage)).toContain(0);
    expect(batch?.summary.deadShare).toBe(0);
    // The second step of the only rollout that has one meets nobody.
    await playGroup(training, 1, [
      oneStep(0.25),
      oneStep(0.5),
      { ...oneStep(0.75), urls: [search, help, help], stepScores: [0.9, 0.9] },
    ]);
    expect((await batchOf(training, 1))?.summary.deadShare).toBe(0.25);
  });

  it.each([
    ['nobody differs', [0.5, 0.5, 0.5], true],
    ['no step holds a tool call', [0.1, 0.5, 0.9], false],
  ] as const)('is null when %s', async (name, scores, hasToolCalls) => {
    const training = await startTraining(store, `batch-null-${name}`);
    await playGroup(
      training,
      0,
      scores.map((score) => ({ urls: [search, search], score, hasToolCalls })),
    );
    expect(await buildBatch(store, training.at(0))).toEqual({ batchDigest: null });
  });

  it('is null when nobody was judged', async () => {
    const training = await startTraining(store, 'batch-nobody');
    await playGroup(training, 0, [{ urls: [search, search] }]);
    expect(await buildBatch(store, training.at(0))).toEqual({ batchDigest: null });
  });
});

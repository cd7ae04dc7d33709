/** Invariant 6: what crosses a task queue stays under 2 KB, with names and groups as long as they get. */
import { beforeAll, expect, it } from 'vitest';
import { createCpuActivities } from '../../../activities/bank/index.ts';
import type { ChainLink } from '../../../activities/contracts.ts';
import { createTrainerActivities } from '../../../activities/trainer/index.ts';
import { createEmbeddedTrainer, loadBasePolicy } from '../../../models/embedded/index.ts';
import { createStorePlace, question, type Store, task } from '../../bank-store/fixtures.ts';
import { freezeBank, task as heldOut, playEvaluation } from './evaluation-scene.ts';
import { inActivity } from './in-activity.ts';
import { failure, type Member, playGroup, range, startTraining } from './training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const trainer = createEmbeddedTrainer(loadBasePolicy());

const sized = (value: unknown) => {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  expect(bytes).toBeLessThan(2048);
  return value;
};

const page = 'http://a.example/list';

it('every result of a training step', async () => {
  const activities = createCpuActivities({
    ...{ store, mergeAdapters: trainer.merge, codeVersion: `${'f'.repeat(40)}-dirty` },
  });
  const runId = `nightly-${'x'.repeat(52)}`;
  const training = await startTraining(store, runId, {
    tasks: [{ ...task, id: `online-mind2web/${'t'.repeat(64)}` }],
    questions: range(30).map((index) => question(`q${index}`)),
    hyperparameters: { groupSize: 8, quorum: 6 },
    steps: 1200,
  });
  const { initialiseAdapter } = createTrainerActivities({ store, trainer });
  sized(await inActivity(() => initialiseAdapter({ runId })));
  const at = training.at(1199);
  await playGroup(
    training,
    at.step,
    range(8).map(
      (index): Member => ({
        urls: [page, page],
        ...{ score: index / 7, outcome: failure },
        answers: range(30).map((q) => ({ url: page, qid: `q${q}`, pYes: index / 7 })),
      }),
    ),
  );
  sized(await inActivity(() => activities.certify(at)));
  sized(await inActivity(() => activities.buildBatch(at)));
  sized(await inActivity(() => activities.commitTrainingStep({ ...at, outcome: 'no_gradient' })));
  const plan = await inActivity(() => activities.planTrainingStep(at));
  sized(plan);
  expect(plan.rollouts).toBe(8);
  expect(plan.committed?.outcome).toBe('no_gradient');
  sized(await inActivity(() => activities.repairBank(at)));
  sized(await inActivity(() => activities.finishTraining({ runId })));
});

it('every input and result of an evaluation task with four times the K of the paper', async () => {
  const activities = createCpuActivities({
    ...{ store, mergeAdapters: trainer.merge, codeVersion: 'v1' },
  });
  await startTraining(store, 'payload-bank');
  const bankDigest = await freezeBank(store, 'payload-bank', { questions: [], certificates: [] });
  const runId = `om2w-${'x'.repeat(52)}`;
  const taskId = heldOut.id;
  await playEvaluation(store, runId, {
    ...{ bankDigest, members: range(16).map((): Member => ({ urls: [page] })) },
  });
  sized(await inActivity(() => activities.planEvaluationTask({ runId, taskId })));
  const comparisons = range(15).map(
    (index): ChainLink => ({
      ...{ incumbent: index, challenger: index + 1 },
      ...{ swap: false, votes: ['INVALID', 'INVALID', 'INVALID'] },
    }),
  );
  const selection = { runId, taskId, selected: 0, comparisons };
  sized(selection);
  sized(await inActivity(() => activities.recordSelection(selection)));
  sized(await inActivity(() => activities.planEvaluationTask({ runId, taskId })));
});

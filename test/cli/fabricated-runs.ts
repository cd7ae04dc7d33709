/** Runs written through the store's own API, small enough to know every number in advance. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '../../activities/contracts.ts';
import { evaluateConfigSchema, trainConfigSchema } from '../../activities/run-config.ts';
import type { BankStore, NewRollout } from '../../bank-store/index.ts';
import { createBankStore } from '../../bank-store/index.ts';
import type { Split, Task } from '../../benchmarks/contract.ts';
import { paperHyperparameters } from '../../workflows/method/hyperparameters.ts';
import type { Certificate, Question } from '../../workflows/method/types.ts';
import { defaultUrlRules } from '../../workflows/method/url-state.ts';
import { evaluateTaskId, rolloutId, trainStepId } from '../../workflows/names.ts';
import { createTestDatabase } from '../support/database.ts';

export interface TestStore {
  readonly store: BankStore;
  readonly databaseUrl: string;
  readonly blobDirectory: string;
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const blobDirectory = mkdtempSync(join(tmpdir(), 'clift-blobs-'));
  const database = await createTestDatabase(async (databaseUrl) => {
    await (await createBankStore({ databaseUrl, blobDirectory })).close();
  });
  const { databaseUrl } = database;
  const store = await createBankStore({ databaseUrl, blobDirectory });
  return {
    ...{ store, databaseUrl, blobDirectory },
    close: async () => {
      await store.close();
      await database.drop();
      rmSync(blobDirectory, { recursive: true, force: true });
    },
  };
}

/** What pages write to take over a terminal. */
export const hostileText = 'Archive\u001b[2J\u009b31m\rall\u202egnihton';

export const success: Outcome = { kind: 'success' };
export const failure: Outcome = { kind: 'failure' };
export const infra: Outcome = { kind: 'unscored', cause: 'infra' };
export const blocked: Outcome = { kind: 'unscored', cause: 'blocked' };

export function fabricateTask(name: string, app: string, split: Split): Task {
  return {
    ...{ id: `sandbox/${app}/${name}`, benchmark: 'sandbox', app, split },
    instruction: `Do ${name} in ${app}.`,
    startUrl: `http://${app}.sandbox/start`,
    allowedHosts: [`${app}.sandbox`],
    difficulty: 'easy',
    provenance: { source: 'template', ref: name },
    viewport: { widthPx: 1280, heightPx: 720 },
    maxSteps: 9,
    expectsAnswer: false,
    imageDigests: [],
  };
}

export const heldOut = [
  fabricateTask('won', 'mail', 'heldout'),
  fabricateTask('kept', 'mail', 'heldout'),
  fabricateTask('lost', 'shop', 'heldout'),
  {
    ...fabricateTask('walled', 'shop', 'heldout'),
    caveats: [{ kind: 'impossible', reason: 'The shop is behind a wall.' }],
  },
] as const;

const asked: Question = {
  ...{
    id: 'q_0000000000000001',
    version: 1,
    text: 'Did the page confirm the change?',
    scope: 'mail.sandbox',
  },
  ...{ polarity: 1, status: 'candidate', provenance: { source: 'seed' } },
};
const mined: Question = {
  ...{ id: 'q_0000000000000002', version: 1, text: 'Was the list filtered first?', scope: 'mail.sandbox' },
  ...{ polarity: 1, status: 'candidate', provenance: { source: 'cegar', step: 1, shard: '0' } },
};
const silent: Question = { ...asked, id: 'q_0000000000000003', text: 'Is there a page at all?' };
const retired: Question = { ...asked, id: 'q_0000000000000004', text: 'Is it Monday?', status: 'retired' };

const certificate: Certificate = {
  ...{ schema: 1, qid: asked.id, version: 1, tier: 'global', key: '*', liftKind: 'trained' },
  ...{ weight: 0.4, lift: 0.4, n: 64, logE: 5, logEminus: -2, z: 2.1, alpha: 0.1 },
  ...{ vetoed: false, reasons: [] },
};
const refusal: Certificate = {
  ...{ ...certificate, qid: mined.id, weight: 0, lift: 0.01, n: 12 },
  reasons: ['n', 'lift'],
};

const { certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax, suspend, decay, zRecent, ...others } =
  paperHyperparameters;
const { grid, bins, aciWarmup, bEps } = others;
const constants = {
  ...{ certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax, suspend, decay, zRecent },
  ...{ grid, bins, aciWarmup, bEps },
};

export interface RolloutSketch {
  readonly outcome: Outcome;
  readonly steps: number;
  /** Answer to the certified question. */
  readonly pYes?: number;
}

/** A finished rollout of `steps` clicks and one first attempt that died. */
async function fabricateRollout(
  store: BankStore,
  rollout: NewRollout,
  { outcome, steps, pYes }: RolloutSketch,
): Promise<void> {
  const { id, ownerId } = rollout;
  const host = ownerId.includes('/shop/') ? 'shop.sandbox' : 'mail.sandbox';
  const dead = await store.claimAttempt(id, 'worker-1');
  const { fence } = await store.abandonAttempt(id, dead.fence, 'browser crashed');
  const digest = await store.blobs.putJson({ url: `http://${host}/list`, text: '', elements: [] });
  for (let index = 0; index < steps; index += 1) {
    await store.recordStep(id, fence, {
      index,
      urlBefore: `http://${host}/list`,
      urlAfter: `http://${host}/list`,
      action: { tool: 'click', ref: 'e1', kind: 'single' },
      target: { role: 'button', name: hostileText, context: '' },
      result: { ok: true, note: null },
      ...{ observationDigest: digest, screenshotDigest: null, stateDigest: 'state', promptDigest: digest },
      ...{ tokenIds: [0], logProbs: [-0.5], toolCallSpan: [0, 1] },
      ...{ decideMs: 1, actMs: 1, settleMs: 1, observeMs: 1 },
    });
  }
  const request = { atMs: 5, method: 'GET', url: `http://${host}/list`, status: 200, flags: [] };
  const foreign = { ...request, url: hostileText, status: 403, flags: ['foreign-host'] };
  await store.keepRequestLog(
    id,
    fence,
    await store.blobs.putJson({ requests: [request, foreign], dropped: 0 }),
  );
  await store.finishRollout(id, fence, {
    ...{ outcome, stopReason: 'answered', answer: hostileText, finalUrl: `http://${host}/list` },
    ...{ finalObservationDigest: digest, evidenceDigest: null, verdictMessage: hostileText, flags: [] },
  });
  if (pYes === undefined) return;
  await store.saveAnswers(id, [
    {
      ...{ rolloutId: id, questionId: asked.id, version: 1, pYes, source: 'assertion' },
      ...{ pathKey: `${host}/list`, hostKey: host },
    },
  ]);
}

/** An evaluation of `heldOut`; the sketches are those of each task's rollouts in generation order. */
export async function fabricateEvaluation(
  store: BankStore,
  runId: string,
  given: { readonly adapterDigest: string | null; readonly bankDigest: string | null },
  tasks: Readonly<
    Record<string, { readonly rollouts: readonly RolloutSketch[]; readonly selected: number | null }>
  >,
): Promise<void> {
  const sketches = heldOut.map((task) => ({ task, sketch: tasks[task.id] }));
  const rolloutBudget = Math.max(...sketches.map(({ sketch }) => sketch?.rollouts.length ?? 1));
  const config = evaluateConfigSchema.parse({
    ...{ kind: 'evaluate', benchmark: 'sandbox', seed: 1, concurrency: 1, taskLimit: null, ...given },
    hyperparameters: { nMin: 12, rolloutBudget },
  });
  await store.createRun({ id: runId, kind: 'evaluate', seed: 1, identity: {}, config, codeVersion: 'src-1' });
  await store.registerTasks(heldOut);
  await store.pinTaskList(
    runId,
    heldOut.map(({ id }) => id),
  );
  for (const { task, sketch } of sketches) {
    if (sketch === undefined) continue;
    const ownerId = evaluateTaskId(runId, task.id);
    const rollouts = sketch.rollouts.map((_, index) =>
      newRollout(runId, ownerId, index, task.id, given.adapterDigest),
    );
    await store.openRollouts(rollouts);
    for (const [index, rollout] of rollouts.entries()) {
      await fabricateRollout(store, rollout, sketch.rollouts[index] ?? { outcome: failure, steps: 0 });
    }
    const [incumbent = '', challenger] = rollouts.map(({ id }) => id);
    const swap = sketch.selected === 1;
    await store.saveSelection({
      ...{ runId, taskId: task.id, bankDigest: given.bankDigest, codeVersion: 'code-1' },
      selected: sketch.selected === null ? null : rolloutId(ownerId, sketch.selected),
      comparisons:
        challenger === undefined
          ? []
          : [
              {
                incumbent,
                challenger,
                swap,
                votes: [0, 1].map((vote) => ({ vote, label: swap ? 'B' : 'A' })),
              },
            ],
    });
  }
}

function newRollout(
  runId: string,
  ownerId: string,
  index: number,
  taskId: string,
  adapterDigest: string | null,
): NewRollout {
  const id = rolloutId(ownerId, index);
  return { id, runId, ownerId, index, taskId, temperature: 1, adapterDigest, maxSteps: 9, seed: [1, index] };
}

export const trainingTask = fabricateTask('practice', 'mail', 'train');

/** Four training steps of one shard, groups of two: three updates with rising judge scores, one below quorum. */
export async function fabricateTraining(
  store: BankStore,
  runId: string,
): Promise<{ readonly bankDigest: string; readonly adapterDigest: string }> {
  const config = trainConfigSchema.parse({
    ...{ kind: 'train', benchmark: 'sandbox', seed: 1, shards: 1, steps: 4 },
    hyperparameters: { nMin: 12, groupSize: 2, quorum: 2 },
    trainer: { learningRate: 0.05, maxGradientNorm: null },
  });
  await store.createRun({ id: runId, kind: 'train', seed: 1, identity: {}, config, codeVersion: 'src-1' });
  await store.registerTasks([trainingTask]);
  await store.pinTaskList(runId, [trainingTask.id]);
  await store.saveQuestions({ runId, shard: 0, step: -1 }, [
    asked,
    silent,
    { ...retired, status: 'candidate' },
  ]);
  const adapterDigest = await store.blobs.put(Buffer.from('adapter'));
  for (let step = 0; step < 4; step += 1) await fabricateTrainingStep(store, runId, step, adapterDigest);
  await store.saveQuestions({ runId, shard: 0, step: 3 }, [mined, retired]);
  const bankDigest = await store.freezeBank(runId, {
    schema: 1,
    constants,
    normaliser: { version: 1, hostRules: defaultUrlRules },
    questions: [asked, mined, silent],
    certificates: [certificate, refusal],
  });
  await store.finishRun(runId, { bankDigest, adapterDigest });
  await store.callOnce(
    { runId, purpose: 'judge', owner: trainStepId(runId, 0, 0), ordinal: 0 },
    {},
    async () => {
      return {
        reply: [],
        model: 'rubric',
        cost: { usage: { inputTokens: 100, outputTokens: 20 }, costUsd: 0.25 },
      };
    },
  );
  return { bankDigest, adapterDigest };
}

async function fabricateTrainingStep(
  store: BankStore,
  runId: string,
  step: number,
  adapterDigest: string,
): Promise<void> {
  const groupId = trainStepId(runId, 0, step);
  const isLost = step === 2;
  const rollouts = [0, 1].map((index) => newRollout(runId, groupId, index, trainingTask.id, adapterDigest));
  await store.openGroup(
    { id: groupId, runId, shard: 0, step, taskId: trainingTask.id, adapterDigest },
    rollouts,
  );
  for (const [index, rollout] of rollouts.entries()) {
    const outcome = index === 0 ? success : failure;
    await fabricateRollout(
      store,
      rollout,
      isLost ? { outcome: infra, steps: 0 } : { outcome, steps: 2, pYes: 1 - index },
    );
  }
  if (!isLost) {
    await store.saveJudgements(
      groupId,
      rollouts.map(({ id }, index) => {
        return { rolloutId: id, score: (step + index) / 10, stepScores: [0.5, 0.25], rationale: hostileText };
      }),
    );
  }
  const batchDigest = isLost ? null : await store.blobs.putJson(fabricateBatch(rollouts));
  await store.commitTrainingStep({
    ...{ runId, shard: 0, step, taskId: trainingTask.id, adapterDigest, batchDigest, codeVersion: 'src-1' },
    outcome: isLost ? 'below_quorum' : 'updated',
    ...(isLost ? { success: 0, failure: 0, unscored: 2 } : { success: 1, failure: 1, unscored: 0 }),
    meanJudgeScore: isLost ? null : (step + 0.5) / 10,
    metrics: isLost ? null : { loss: 0.1, kl: 0.002, clipShare: 0.1, gradientNorm: 1 },
    batch: isLost ? null : { reward: 0.5, verifier: 0.05, deadShare: 0.25 },
  });
}

function fabricateBatch(rollouts: readonly NewRollout[]) {
  return {
    steps: rollouts.flatMap(({ id }, rollout) =>
      [0, 1].map((index) => ({ rolloutId: id, index, advantage: rollout === 0 ? 0.7 : -0.7 })),
    ),
  };
}

/** A demo whose retries win one task, and where the walled task has no verdict on the greedy rollout. */
export async function fabricateDemo(store: BankStore, name: string) {
  const trained = await fabricateTraining(store, name);
  const [won, kept, lost, walled] = heldOut;
  const greedyOnly = (outcome: Outcome) => ({ rollouts: [{ outcome, steps: 2 }], selected: 0 });
  const base = `${name}-base`;
  await fabricateEvaluation(
    store,
    base,
    { adapterDigest: null, bankDigest: null },
    {
      [won.id]: greedyOnly(failure),
      [kept.id]: greedyOnly(success),
      [lost.id]: greedyOnly(failure),
      [walled.id]: { ...greedyOnly(infra), selected: null },
    },
  );
  const clift = `${name}-clift`;
  await fabricateEvaluation(store, clift, trained, {
    [won.id]: {
      rollouts: [
        { outcome: failure, steps: 3, pYes: 0 },
        { outcome: success, steps: 5, pYes: 1 },
      ],
      selected: 1,
    },
    [kept.id]: {
      rollouts: [
        { outcome: success, steps: 3, pYes: 1 },
        { outcome: failure, steps: 2, pYes: 1 },
      ],
      selected: 0,
    },
    [lost.id]: {
      rollouts: [
        { outcome: failure, steps: 3 },
        { outcome: failure, steps: 2 },
      ],
      selected: 0,
    },
    [walled.id]: {
      rollouts: [
        { outcome: blocked, steps: 1 },
        { outcome: success, steps: 2 },
      ],
      selected: 0,
    },
  });
  return { training: name, base, clift };
}

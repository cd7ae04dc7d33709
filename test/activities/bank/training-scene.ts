/** A training run written through the store's own API: groups of rollouts as told, no browser and no model. */
import { planTrainingStep } from '../../../activities/bank/plan-training-step.ts';
import type { Outcome } from '../../../activities/contracts.ts';
import { type TrainConfig, trainConfigSchema } from '../../../activities/run-config.ts';
import type { BankStore, StepKey, StoredAnswer } from '../../../bank-store/contract.ts';
import type { Observation, Task } from '../../../benchmarks/contract.ts';
import type { Hyperparameters } from '../../../workflows/method/hyperparameters.ts';
import type { Certificate, CertifierConstants, Question } from '../../../workflows/method/types.ts';
import { urlState } from '../../../workflows/method/url-state.ts';
import { rolloutId, trainStepId } from '../../../workflows/names.ts';
import { certificate, task } from '../../bank-store/fixtures.ts';

export const success: Outcome = { kind: 'success' };
export const failure: Outcome = { kind: 'failure' };
export const infra: Outcome = { kind: 'unscored', cause: 'infra' };

export interface Training {
  readonly store: BankStore;
  readonly runId: string;
  readonly config: TrainConfig;
  at(step: number, shard?: number): StepKey;
  groupId(step: number, shard?: number): string;
}

export interface TrainingSketch {
  readonly hyperparameters?: Partial<Hyperparameters>;
  readonly shards?: number;
  readonly steps?: number;
  readonly seed?: number;
  readonly tasks?: readonly Task[];
  readonly questions?: readonly Question[];
}

/** Groups of three, quorum two, unless told otherwise. */
export async function startTraining(
  store: BankStore,
  runId: string,
  sketch: TrainingSketch = {},
): Promise<Training> {
  const { shards = 1, steps = 10, seed = 1, questions = [] } = sketch;
  const config = trainConfigSchema.parse({
    ...{ kind: 'train', benchmark: 'sandbox', seed, shards, steps },
    hyperparameters: { groupSize: 3, quorum: 2, ...sketch.hyperparameters },
    trainer: { learningRate: 0.05, maxGradientNorm: null },
  });
  const tasks = sketch.tasks ?? range(shards).map((index) => ({ ...task, id: `sandbox/mail/${index}` }));
  await store.createRun({ id: runId, kind: 'train', seed, identity: {}, config, codeVersion: 'v1' });
  await store.registerTasks(tasks);
  await store.pinTaskList(
    runId,
    tasks.map(({ id }) => id),
  );
  for (const shard of range(shards)) await store.saveQuestions({ runId, shard, step: -1 }, questions);
  return {
    ...{ store, runId, config },
    at: (step, shard = 0) => ({ runId, shard, step }),
    groupId: (step, shard = 0) => trainStepId(runId, shard, step),
  };
}

export interface Member {
  /** The page of every step and, last, the one at the end. */
  readonly urls: readonly string[];
  /** Null: no attempt finished. */
  readonly outcome?: Outcome | null;
  readonly answer?: string | null;
  /** Judge score, and those of the steps; absent: not judged. */
  readonly score?: number;
  readonly stepScores?: readonly number[];
  /** What the self-verifier said, by page. */
  readonly answers?: readonly {
    readonly url: string;
    readonly qid: string;
    readonly version?: number;
    readonly pYes: number | null;
  }[];
  /** False: the policy's replies held no tool call. */
  readonly hasToolCalls?: boolean;
}

/** Plans the training step and plays its group. */
export async function playGroup(
  training: Training,
  step: number,
  members: readonly Member[],
  shard = 0,
): Promise<readonly string[]> {
  const { store } = training;
  const { rollouts, groupId } = await planTrainingStep(store, training.at(step, shard));
  const rolloutIds = range(rollouts).map((index) => rolloutId(groupId, index));
  for (const [index, member] of members.entries()) await playRollout(store, rolloutIds[index] ?? '', member);
  const judged = members.flatMap(({ score, stepScores, urls }, index) =>
    score === undefined
      ? []
      : [
          {
            rolloutId: rolloutIds[index] ?? '',
            score,
            stepScores: stepScores ?? urls.slice(1).map(() => score),
            rationale: `rationale of ${index}`,
          },
        ],
  );
  if (judged.length > 0) await store.saveJudgements(groupId, judged);
  return rolloutIds;
}

export async function playRollout(store: BankStore, rolloutId: string, member: Member): Promise<void> {
  const { urls, outcome = success, answer = null, hasToolCalls = true } = member;
  if (outcome === null) return;
  const { fence } = await store.claimAttempt(rolloutId, 'test');
  for (const [index, urlBefore] of urls.slice(0, -1).entries()) {
    await store.recordStep(rolloutId, fence, {
      ...{ index, urlBefore, urlAfter: urls[index + 1] ?? urlBefore },
      action: { tool: 'click', ref: 'e1', kind: 'single' },
      target: { role: 'button', name: `Button ${index}`, context: '' },
      result: { ok: true, note: null },
      observationDigest: await store.blobs.putJson(pageOf(urlBefore, index)),
      ...{ screenshotDigest: null, stateDigest: null, promptDigest: 'c'.repeat(64) },
      ...{ tokenIds: [index], logProbs: [-0.5], toolCallSpan: hasToolCalls ? [0, 1] : null },
      ...{ decideMs: 1, actMs: 1, settleMs: 1, observeMs: 1 },
    });
  }
  const finalUrl = urls.at(-1) ?? 'about:blank';
  await store.finishRollout(rolloutId, fence, {
    ...{ outcome, stopReason: 'answered', answer, finalUrl },
    finalObservationDigest: await store.blobs.putJson(pageOf(finalUrl, urls.length - 1)),
    ...{ evidenceDigest: null, verdictMessage: 'as told', flags: [] },
  });
  const answers = (member.answers ?? []).map(({ url, qid, version = 1, pYes }): StoredAnswer => {
    const { pathKey, hostKey } = urlState(url);
    return { rolloutId, questionId: qid, version, pYes, source: 'model', pathKey, hostKey };
  });
  await store.saveAnswers(rolloutId, answers);
}

/** The nth page that a rollout saw. */
export const pageOf = (url: string, nth: number): Observation => ({
  ...{ url, title: 'Page', tabs: [], elements: [], text: `page ${nth}` },
  ...{ scroll: { topPx: 0, heightPx: 100, viewportPx: 100 }, truncated: false },
});

/** A certificate in force, of that weight. */
export const inForce = (
  qid: string,
  weight: number,
  cell: { readonly tier: 'path' | 'host' | 'global'; readonly key: string } = { tier: 'global', key: '*' },
): Certificate => ({ ...certificate(qid, 60), ...cell, weight, lift: weight, reasons: [] });

/** Puts certificates in force as certifying that training step would. */
export const giveCertificates = (store: BankStore, at: StepKey, certificates: readonly Certificate[]) =>
  store.certifyStep(at, () => ({ trackers: [], certificates }));

export function constantsOf(hyperparameters: Hyperparameters): CertifierConstants {
  const { certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax } = hyperparameters;
  const { suspend, decay, zRecent, grid, bins, aciWarmup, bEps } = hyperparameters;
  return {
    ...{ certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax },
    ...{ suspend, decay, zRecent, grid, bins, aciWarmup, bEps },
  };
}

export const range = (length: number) => Array.from({ length }, (_, index) => index);

/** A training run in numbers: how its steps ended, what the judge saw, what the updates looked like. */
import type { TrainingStepOutcome } from '../../activities/contracts.ts';
import type { BankStore, PurposeCosts, Run, TrainingStepRow } from '../../bank-store/contract.ts';
import { mean } from '../../workflows/method/mean.ts';
import { storedTraining } from '../stored-config.ts';

export interface TrainingSummary {
  readonly runId: string;
  readonly seed: number;
  readonly shards: number;
  /** Training steps of each shard. */
  readonly steps: number;
  readonly learningRate: number;
  readonly committed: number;
  readonly stepOutcomes: Readonly<Partial<Record<TrainingStepOutcome, number>>>;
  readonly rollouts: { readonly success: number; readonly failure: number; readonly unscored: number };
  /** Mean judge score of the first and the last quarter of the steps, in [0, 1]; null if nothing was judged. */
  readonly judgeScore: { readonly first: number | null; readonly last: number | null };
  /** Null without a single update. */
  readonly updates: UpdateMeans | null;
  readonly costs: readonly PurposeCosts[];
  readonly codeVersions: readonly string[];
}

/** Means over the steps that moved the adapter. */
export interface UpdateMeans {
  readonly count: number;
  readonly reward: number | null;
  /** Part of the mean reward that the self-verifier added, in [0, 1]; null where the reward is 0. */
  readonly verifierShare: number | null;
  readonly deadShare: number | null;
  readonly kl: number | null;
  readonly clipShare: number | null;
}

export async function readTrainingSummary(store: BankStore, run: Run): Promise<TrainingSummary> {
  const [rows, costs] = await Promise.all([store.trainingSteps(run.id), store.costs(run.id)]);
  const { shards, steps, trainer } = storedTraining(run);
  return {
    ...{ runId: run.id, seed: run.seed, shards, steps, learningRate: trainer.learningRate },
    ...{ costs, codeVersions: run.codeVersions },
    ...summariseSteps(rows),
  };
}

type StepSummary = Pick<
  TrainingSummary,
  'committed' | 'stepOutcomes' | 'rollouts' | 'judgeScore' | 'updates'
>;

export function summariseSteps(rows: readonly TrainingStepRow[]): StepSummary {
  const total = (name: 'success' | 'failure' | 'unscored') => rows.reduce((sum, row) => sum + row[name], 0);
  return {
    committed: rows.length,
    stepOutcomes: countOutcomes(rows),
    rollouts: { success: total('success'), failure: total('failure'), unscored: total('unscored') },
    judgeScore: quarters(rows),
    updates: updateMeans(rows),
  };
}

function countOutcomes(rows: readonly TrainingStepRow[]): StepSummary['stepOutcomes'] {
  const counts: Partial<Record<TrainingStepOutcome, number>> = {};
  for (const { outcome } of rows) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Shards are read side by side: a quarter is a range of step numbers. */
function quarters(rows: readonly TrainingStepRow[]): TrainingSummary['judgeScore'] {
  const scores = rows
    .toSorted((left, right) => left.step - right.step)
    .flatMap(({ meanJudgeScore }) => (meanJudgeScore === null ? [] : [meanJudgeScore]));
  const quarter = Math.ceil(scores.length / 4);
  return { first: mean(scores.slice(0, quarter)), last: mean(scores.slice(scores.length - quarter)) };
}

function updateMeans(rows: readonly TrainingStepRow[]): UpdateMeans | null {
  const updated = rows.filter(({ outcome }) => outcome === 'updated');
  if (updated.length === 0) return null;
  const batches = updated.flatMap(({ batch }) => (batch === null ? [] : [batch]));
  const metrics = updated.flatMap((row) => (row.metrics === null ? [] : [row.metrics]));
  const reward = mean(batches.map((batch) => batch.reward));
  const verifier = mean(batches.map((batch) => batch.verifier));
  return {
    count: updated.length,
    reward,
    verifierShare: reward === null || verifier === null || reward === 0 ? null : verifier / reward,
    deadShare: mean(batches.map(({ deadShare }) => deadShare)),
    kl: mean(metrics.map(({ kl }) => kl)),
    clipShare: mean(metrics.map(({ clipShare }) => clipShare)),
  };
}

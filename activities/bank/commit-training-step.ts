import { z } from 'zod';
import type { BankStore, StoredRollout, TrainingStepRow } from '../../bank-store/contract.ts';
import type { BatchSummary } from '../../models/contract.ts';
import { mean } from '../../workflows/method/mean.ts';
import { trainStepId } from '../../workflows/names.ts';
import type { TrainingStepOutcome, TrainingStepRef, TrainingStepSummary } from '../contracts.ts';
import type { CpuDependencies } from './dependencies.ts';

/** Closes a training step, whose rollouts have all ended: its row is written once. */
export async function commitTrainingStep(
  { store, codeVersion }: Pick<CpuDependencies, 'store' | 'codeVersion'>,
  { outcome, ...at }: TrainingStepRef & { readonly outcome: TrainingStepOutcome },
): Promise<TrainingStepSummary> {
  const groupId = trainStepId(at.runId, at.shard, at.step);
  const [group, rollouts, judgements, published] = await Promise.all([
    store.getGroup(groupId),
    store.rolloutsOf(groupId),
    store.judgementsOf(groupId),
    store.publishedAdapter(at),
  ]);
  const row: TrainingStepRow = {
    ...at,
    taskId: group.taskId,
    outcome,
    ...countOutcomes(rollouts),
    meanJudgeScore: mean(judgements.map(({ score }) => score)),
    adapterDigest: published?.digest ?? group.adapterDigest,
    batchDigest: published?.batchDigest ?? null,
    metrics: published?.metrics ?? null,
    batch: published === null ? null : await readSummary(store, published.batchDigest),
    codeVersion,
  };
  return summaryOf(await store.commitTrainingStep(row));
}

function countOutcomes(rollouts: readonly StoredRollout[]) {
  const count = (kind: 'success' | 'failure' | 'unscored') =>
    rollouts.filter(({ finished }) => finished?.outcome.kind === kind).length;
  return { success: count('success'), failure: count('failure'), unscored: count('unscored') };
}

const batchWithSummary = z.object({
  summary: z.object({ reward: z.number(), verifier: z.number(), deadShare: z.number() }),
});

async function readSummary(store: BankStore, batchDigest: string): Promise<BatchSummary> {
  return batchWithSummary.parse(await store.blobs.getJson(batchDigest)).summary;
}

export function summaryOf(row: TrainingStepRow): TrainingStepSummary {
  const { step, taskId, outcome, success, failure, unscored, meanJudgeScore, adapterDigest } = row;
  return { step, taskId, outcome, success, failure, unscored, meanJudgeScore, adapterDigest };
}

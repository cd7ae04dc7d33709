import type { BankStore } from '../../bank-store/contract.ts';
import type { Batch, BatchStep, BatchSummary } from '../../models/contract.ts';
import {
  type AdvantageRollout,
  type StepAdvantage,
  stratifiedAdvantages,
} from '../../workflows/method/advantage.ts';
import { grpoAdvantages } from '../../workflows/method/grpo.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { mean } from '../../workflows/method/mean.ts';
import { discountedReturns } from '../../workflows/method/returns.ts';
import { stepReward } from '../../workflows/method/reward.ts';
import { urlState } from '../../workflows/method/url-state.ts';
import { trainStepId } from '../../workflows/names.ts';
import { readBank } from '../bank-snapshot.ts';
import type { TrainingStepRef } from '../contracts.ts';
import { type JudgedRollout, readGroup, readJudgedRollouts } from '../group.ts';
import { trainConfigSchema } from '../run-config.ts';
import { type Bank, evidenceSheet, scoresByState } from '../verifier-scores.ts';

/**
 * reward → returns → advantages → batch (METHOD 4), from the snapshot taken before the step: its own judge scores
 * are in no certificate that it is rewarded by. Null when no token has an advantage.
 */
export async function buildBatch(
  store: BankStore,
  at: TrainingStepRef,
): Promise<{ readonly batchDigest: string | null }> {
  const run = await store.getRun(at.runId);
  const { hyperparameters, models } = trainConfigSchema.parse(run.config);
  const scored = await readGroup(store, trainStepId(at.runId, at.shard, at.step));
  const judged = await readJudgedRollouts(store, scored);
  const bank = await readBank(store, { ...at, step: at.step - 1 });
  const rewarded = judged.map((rollout) => reward(rollout, bank, hyperparameters));
  const advantages = advantagesOf(rewarded, hyperparameters);
  const steps = judged.flatMap((rollout, i) => batchSteps(rollout, advantages[i] ?? []));
  if (models.trainer.provider === 'none' || !steps.some(isTaught)) return { batchDigest: null };

  const batch: Batch = {
    version: 1,
    ...{ runId: at.runId, shard: at.shard, trainingStep: at.step },
    adapterDigest: scored.group.adapterDigest,
    steps,
    summary: summarise(rewarded, advantages),
  };
  return { batchDigest: await store.blobs.putJson(batch) };
}

interface Rewarded extends AdvantageRollout {
  readonly rewards: readonly number[];
  /** The part of each reward that the verifier added. */
  readonly bonuses: readonly number[];
}

function reward({ rollout, judgement, answers }: JudgedRollout, bank: Bank, h: Hyperparameters): Rewarded {
  const { lines } = evidenceSheet(rollout, answers, bank, h);
  const scores = h.useBank ? scoresByState(lines, h) : new Map<string, number>();
  const states = rollout.steps.map(({ urlBefore }) => urlState(urlBefore));
  const judge = judgement.stepScores;
  const rewards = states.map(({ pathKey }, t) =>
    stepReward(judge[t] ?? judgement.score, scores.get(pathKey) ?? 0, h.beta),
  );
  return {
    states,
    rewards,
    score: judgement.score,
    bonuses: rewards.map((value, t) => value - (judge[t] ?? judgement.score)),
    returns: discountedReturns(rewards, h.gamma, h.returnNorm),
  };
}

/** Without a bank: vanilla GRPO from the same judge, the same advantage for every step of a rollout. */
function advantagesOf(group: readonly Rewarded[], h: Hyperparameters): readonly (readonly StepAdvantage[])[] {
  if (h.useBank) return stratifiedAdvantages(group, h);
  const baseline = grpoAdvantages(
    group.map(({ score }) => score),
    h,
  );
  return group.map(({ rewards }, i) =>
    rewards.map(() => ({ advantage: baseline[i] ?? 0, level: 3 as const })),
  );
}

function batchSteps({ rollout }: JudgedRollout, advantages: readonly StepAdvantage[]): readonly BatchStep[] {
  return rollout.steps.map((step, t) => ({
    rolloutId: rollout.rollout.id,
    index: step.index,
    promptDigest: step.promptDigest,
    tokenIds: step.tokenIds,
    oldLogProbs: step.logProbs,
    toolCallSpan: step.toolCallSpan,
    advantage: advantages[t]?.advantage ?? 0,
  }));
}

/** A step without a parsable tool call has no token that could carry its advantage (METHOD 4.5). */
const isTaught = ({ advantage, toolCallSpan }: BatchStep): boolean =>
  advantage !== 0 && toolCallSpan !== null;

function summarise(
  group: readonly Rewarded[],
  advantages: readonly (readonly StepAdvantage[])[],
): BatchSummary {
  const members = advantages.flat();
  const dead = members.filter(({ level }) => level === 3);
  return {
    reward: mean(group.flatMap(({ rewards }) => rewards)) ?? 0,
    verifier: mean(group.flatMap(({ bonuses }) => bonuses)) ?? 0,
    deadShare: members.length === 0 ? 0 : dead.length / members.length,
  };
}

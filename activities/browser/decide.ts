import { z } from 'zod';
import type { BankStore } from '../../bank-store/contract.ts';
import type { Observation, TraceStep } from '../../benchmarks/contract.ts';
import { actionSchema } from '../../benchmarks/schemas.ts';
import type { PolicyRequest, ShownImage } from '../../models/contract.ts';
import { mostUsdOf, paidCall } from '../paid-call.ts';
import type { RolloutPlan } from './parts.ts';

const decisionSchema = z.strictObject({
  action: actionSchema,
  promptDigest: z.string(),
  tokenIds: z.array(z.number()),
  logProbs: z.array(z.number()),
  toolCallSpan: z.tuple([z.number(), z.number()]).nullable(),
  said: z.exactOptional(
    z.strictObject({ text: z.string(), toolCall: z.tuple([z.number(), z.number()]).nullable() }),
  ),
});

/** A policy decision as it is journalled: its prompt is a blob. */
export type Decision = z.infer<typeof decisionSchema>;

export interface DecisionPoint {
  readonly attempt: number;
  /** Browser step. */
  readonly index: number;
  readonly history: readonly TraceStep[];
  readonly observation: Observation;
  readonly observationDigest: string;
  /** The page in pixels; no part of the call's digest, since the same page may be drawn with another pixel. */
  readonly images: readonly ShownImage[];
}

/**
 * The policy's next action, asked for once per attempt and step (invariant 2): after a crash the reply comes from
 * the journal. Randomness comes from the rollout's seed and the step, never from the attempt (invariant 13).
 */
export async function decide(
  store: BankStore,
  plan: RolloutPlan,
  at: DecisionPoint,
  signal: AbortSignal,
): Promise<Decision> {
  const { runId, rollout, task, policy, ceilings } = plan;
  const { temperature, adapterDigest, ownerId } = rollout;
  const seed = [...rollout.seed, at.index];
  const { history, observation, images } = at;
  const asked: PolicyRequest = {
    ...{ task, history, observation, temperature, seed },
    ...(images.length > 0 && { images }),
  };
  const reply = await paidCall(store, {
    key: { runId, purpose: 'policy', owner: `${rollout.id}#${at.attempt}`, ordinal: at.index },
    task: [ownerId, task.id],
    ceilings,
    model: policy.identity,
    request: {
      adapterDigest,
      taskId: task.id,
      instruction: task.instruction,
      observationDigest: at.observationDigest,
      history: at.history,
      temperature,
      seed,
    },
    ...{ mostUsd: mostUsdOf(policy, asked), signal },
    ask: async () => {
      const { prompt, cost, ...decision } = await policy.decide(asked, signal);
      const promptDigest = await store.blobs.putJson(prompt);
      return { reply: { ...decision, promptDigest }, cost };
    },
  });
  return decisionSchema.parse(reply);
}

/** The embedded policy: a softmax over candidate tool calls, with frozen base weights and an adapter. */

import { randomGenerator } from '../../workflows/method/random.ts';
import type {
  CallCost,
  ModelIdentity,
  Policy,
  PolicyDecision,
  PolicyFactory,
  PolicyRequest,
} from '../contract.ts';
import { decodeAdapter, type Factors } from './adapter.ts';
import type { BasePolicy } from './base-policy.ts';
import { candidateFeatures } from './candidate-features.ts';
import { buildCandidates, type Candidate } from './candidates.ts';
import { readPage } from './page-reading.ts';
import { encodeDecisionFeatures } from './prompt.ts';
import { candidateLogProbs, type DecisionFeatures } from './scoring.ts';
import { taskFeatures } from './task-features.ts';
import { readTask } from './task-reading.ts';

/** Code costs nothing, and that is known. */
export const freeOfCharge: CallCost = { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 };

export function createEmbeddedPolicyFactory(base: BasePolicy): PolicyFactory {
  const identity: ModelIdentity = { provider: 'embedded', model: 'softmax-policy', revision: base.digest };
  return {
    identity,
    open: async (adapter) => {
      const weights =
        adapter === null ? null : decodeAdapter(adapter, { base: base.digest, shape: base.shape }).weights;
      return openPolicy(identity, base, weights);
    },
  };
}

function openPolicy(identity: ModelIdentity, base: BasePolicy, adapter: Factors | null): Policy {
  return {
    identity,
    decide: async (request) => {
      const { candidates, features } = readRequest(request);
      const logProbs = candidateLogProbs(features, base.shape, base.weights, adapter);
      return describeDecision(candidates, features, logProbs, chooseCandidate(logProbs, request));
    },
  };
}

export interface ReadRequest {
  readonly candidates: readonly Candidate[];
  readonly features: DecisionFeatures;
}

/** Candidates of a request beside their features, index by index. */
export function readRequest({
  task,
  observation,
  history,
}: Omit<PolicyRequest, 'temperature' | 'seed'>): ReadRequest {
  const reading = readTask(task);
  const page = readPage(observation, history, reading);
  const candidates = buildCandidates(task, reading, observation, page);
  return {
    candidates,
    features: {
      task: taskFeatures(task, reading, page),
      candidates: candidateFeatures(candidates, reading, page),
    },
  };
}

/** Temperature 0: the likeliest, ties to the lowest index. Else drawn from p^(1/temperature). */
export function chooseCandidate(
  logProbs: readonly number[],
  { temperature, seed }: Pick<PolicyRequest, 'temperature' | 'seed'>,
): number {
  const top = Math.max(...logProbs);
  if (temperature === 0) return logProbs.indexOf(top);
  return randomGenerator(seed).choose(logProbs.map((logProb) => Math.exp((logProb - top) / temperature)));
}

function describeDecision(
  candidates: readonly Candidate[],
  features: DecisionFeatures,
  logProbs: readonly number[],
  chosen: number,
): PolicyDecision {
  const candidate = candidates[chosen];
  const logProb = logProbs[chosen];
  if (candidate === undefined || logProb === undefined) {
    throw new RangeError(`candidate ${chosen} of ${candidates.length} does not exist`);
  }
  return {
    action: candidate.action,
    prompt: encodeDecisionFeatures(features),
    tokenIds: [chosen],
    logProbs: [logProb],
    toolCallSpan: [0, 1],
    cost: freeOfCharge,
  };
}

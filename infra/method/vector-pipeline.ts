import { z } from 'zod';
import { stratifiedAdvantages } from '../../workflows/method/advantage.ts';
import { grpoAdvantages } from '../../workflows/method/grpo.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { type Consulted, lookUp } from '../../workflows/method/lookup.ts';
import { discountedReturns } from '../../workflows/method/returns.ts';
import { stepReward } from '../../workflows/method/reward.ts';
import type { UrlState } from '../../workflows/method/types.ts';
import { verifierScore } from '../../workflows/method/verifier-score.ts';

const strings = z.array(z.array(z.string()));
const pipelineInput = z.object({
  paths: strings,
  hosts: strings,
  judge: z.array(z.array(z.number())),
  trajectoryScores: z.array(z.number()),
  /** Question to the weights of its certified tier keys. */
  weights: z.record(z.string(), z.record(z.string(), z.number())),
  /** Rollout, path key, question. */
  pYes: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.number()))),
  beta: z.number(),
  gamma: z.number(),
  normaliser: z.enum(['max1', 'sumAbs']).optional(),
  mode: z.enum(['signed', 'yesOnly']).optional(),
  returnNorm: z.enum(['sum', 'mean']).optional(),
});

type PipelineInput = z.infer<typeof pipelineInput>;

/** From weights and answers to advantages: METHOD 4.1 to 4.4 on one group. */
export function runPipeline(input: unknown, hyperparameters: Hyperparameters): unknown {
  const given = pipelineInput.parse(input);
  const options: Hyperparameters = {
    ...hyperparameters,
    beta: given.beta,
    gamma: given.gamma,
    normaliser: given.normaliser ?? hyperparameters.normaliser,
    verifierScoreMode: given.mode ?? hyperparameters.verifierScoreMode,
    returnNorm: given.returnNorm ?? hyperparameters.returnNorm,
  };
  const states = given.paths.map((row, i) =>
    row.map((pathKey, t): UrlState => ({ pathKey, hostKey: given.hosts[i]?.[t] ?? '' })),
  );
  const rVQ = states.map((row, i) => row.map((state) => scoreAt(given, i, state, options)));
  const reward = given.judge.map((row, i) =>
    row.map((j, t) => stepReward(j, rVQ[i]?.[t] ?? 0, options.beta)),
  );
  const returns = reward.map((row) => discountedReturns(row, options.gamma, 'sum'));
  const returnsMean = reward.map((row) => discountedReturns(row, options.gamma, 'mean'));
  const chosen = options.returnNorm === 'sum' ? returns : returnsMean;
  const settled = stratifiedAdvantages(
    chosen.map((row, i) => ({
      returns: row,
      states: states[i] ?? [],
      score: given.trajectoryScores[i] ?? Number.NaN,
    })),
    options,
  );
  return {
    rVQ,
    reward,
    returns,
    returnsMean,
    advantages: settled.map((row) => row.map((step) => step.advantage)),
    levels: settled.map((row) => row.map((step) => step.level)),
    grpo: grpoAdvantages(given.trajectoryScores, options),
  };
}

function scoreAt(given: PipelineInput, rollout: number, state: UrlState, options: Hyperparameters): number {
  const answers = given.pYes[rollout]?.[state.pathKey] ?? {};
  const weighted = Object.entries(given.weights).flatMap(([question, weights]) => {
    const pYes = answers[question];
    const byKey = new Map(Object.entries(weights).map(([key, weight]) => [key, consultedWith(weight)]));
    const found = lookUp(byKey, state, options);
    return pYes === undefined || found === null ? [] : [{ weight: found.certificate.weight, pYes }];
  });
  return verifierScore(weighted, options);
}

/** A weight of 0 stands for a refusal. */
const consultedWith = (weight: number): Consulted => ({
  weight,
  vetoed: false,
  n: 0,
  reasons: weight === 0 ? ['lift'] : [],
});

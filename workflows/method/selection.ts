import { finite, invalid, unit, within } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';
import type { RandomGenerator } from './random.ts';
import type { Decision, Vote } from './types.ts';

export type VoteRule = Pick<Hyperparameters, 'votes' | 'orderGuard'>;

/** METHOD 6: the presentation order alternates; `k` counts the votes of a comparison from 0. */
export const incumbentFirst = (k: number): boolean => k % 2 === 0;

/**
 * METHOD 6, stated rule and order guard, after the votes cast so far: `open` while the remaining ones can still
 * change the decision. Ties, invalid and missing votes keep the incumbent.
 */
export function decideSoFar(cast: readonly Vote[], rule: VoteRule): Decision | 'open' {
  checkVotes(cast, rule);
  const swaps = cast.filter((vote) => vote === 'B').length;
  const left = rule.votes - cast.length;
  const guarded = rule.orderGuard && rule.votes > 1;
  const bothOrders = [true, false].map((order) => orderState(cast, order, rule.votes));

  if (swaps > rule.votes / 2 && (!guarded || bothOrders.every((order) => order === 'voted'))) return 'swap';
  if (swaps + left <= rule.votes / 2) return 'keep';
  if (guarded && bothOrders.includes('impossible')) return 'keep';
  return left === 0 ? 'keep' : 'open';
}

/** Whether a B vote came, may still come, or can no longer come from one presentation order. */
function orderState(
  cast: readonly Vote[],
  first: boolean,
  votes: number,
): 'voted' | 'possible' | 'impossible' {
  if (cast.some((vote, k) => vote === 'B' && incumbentFirst(k) === first)) return 'voted';
  for (let k = cast.length; k < votes; k++) if (incumbentFirst(k) === first) return 'possible';
  return 'impossible';
}

/** Early stopping never changes the decision; `used` counts the votes that it needed. */
export function decide(
  votes: readonly Vote[],
  rule: VoteRule,
): { readonly decision: Decision; readonly used: number } {
  checkVotes(votes, rule);
  for (let used = 0; used <= votes.length; used++) {
    const decision = decideSoFar(votes.slice(0, used), rule);
    if (decision !== 'open') return { decision, used };
  }
  return { decision: 'keep', used: votes.length };
}

function checkVotes(votes: readonly Vote[], rule: VoteRule): void {
  if (!(Number.isSafeInteger(rule.votes) && rule.votes % 2 === 1 && rule.votes > 0)) {
    invalid('votes', rule.votes, 'odd');
  }
  if (votes.length > rule.votes) invalid('the number of votes cast', votes.length, `at most ${rule.votes}`);
}

export interface Comparison {
  readonly incumbent: number;
  readonly challenger: number;
  readonly decision: Decision;
  readonly used: number;
}

/**
 * METHOD 6, the chain over candidates 0 .. n-1 in generation order: candidate 0 is the first incumbent, a swap
 * makes the challenger the incumbent, the last incumbent is emitted.
 */
export function selectByChain(
  candidates: number,
  votesOf: (incumbent: number, challenger: number) => readonly Vote[],
  rule: VoteRule,
): { readonly selected: number; readonly log: readonly Comparison[] } {
  if (!(Number.isSafeInteger(candidates) && candidates > 0)) invalid('candidates', candidates, 'at least 1');
  let incumbent = 0;
  const log: Comparison[] = [];
  for (let challenger = 1; challenger < candidates; challenger++) {
    const outcome = decide(votesOf(incumbent, challenger), rule);
    log.push({ incumbent, challenger, ...outcome });
    if (outcome.decision === 'swap') incumbent = challenger;
  }
  return { selected: incumbent, log };
}

/** METHOD 6: what the case studies print for the incumbent; the challenger's is its negative. No effect. */
export function incumbentLogScore(votes: readonly Vote[], rule: VoteRule): -0.5 | 0 | 0.5 {
  if (decide(votes, rule).decision === 'swap') return -0.5;
  return votes.filter((vote) => vote === 'A').length > rule.votes / 2 ? 0.5 : 0;
}

/**
 * METHOD 6.1: probabilities of a vote drawn from evidence alone, for D = V_challenger - V_incumbent in [-2, 2].
 * A stand-in where no model can compare two trajectories; the paper avoids such a scalar.
 */
export function voteDistribution(
  evidenceDifference: number,
  temperature: number,
): Readonly<Record<'A' | 'B' | 'TIE', number>> {
  within('evidence difference', evidenceDifference, -2, 2);
  if (!(temperature > 0)) invalid('vote temperature', temperature, 'above 0');
  const logits = [-4 * evidenceDifference, 4 * evidenceDifference, 1].map((logit) =>
    finite('logit', logit / temperature),
  );
  const top = Math.max(...logits);
  const [a = 0, b = 0, tie = 0] = logits.map((logit) => Math.exp(logit - top));
  const sum = a + b + tie;
  return { A: a / sum, B: b / sum, TIE: tie / sum };
}

/** One embedded vote; seed the generator by (run seed, task, incumbent, challenger, k). */
export function drawVote(
  evidenceDifference: number,
  temperature: number,
  random: RandomGenerator,
): 'A' | 'B' | 'TIE' {
  const { A, B, TIE } = voteDistribution(evidenceDifference, temperature);
  return (['A', 'B', 'TIE'] as const)[random.choose([A, B, TIE])] ?? 'TIE';
}

/**
 * Expected success after one comparison, METHOD 6: what swaps win and what they lose. All arguments and the result
 * are probabilities.
 */
export function successAfterComparison(given: {
  readonly incumbentSucceeds: number;
  readonly onlyIncumbent: number;
  readonly onlyChallenger: number;
  readonly swapGivenBetter: number;
  readonly swapGivenWorse: number;
}): number {
  for (const [name, chance] of Object.entries(given)) unit(name, chance);
  const won = given.onlyChallenger * given.swapGivenBetter;
  const lost = given.onlyIncumbent * given.swapGivenWorse;
  return unit('expected success', given.incumbentSucceeds + won - lost);
}

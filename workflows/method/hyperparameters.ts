import { count, invalid, within } from './checks.ts';
import type { CertifierConstants } from './types.ts';

/** METHOD section 0: part of a run's identity, recorded with it. */
export interface Hyperparameters extends CertifierConstants {
  /** G, rollouts a group; from 2. */
  readonly groupSize: number;
  /** Rollouts with a verdict below which a group is neither judged nor learned from. */
  readonly quorum: number;
  /** Share of the verifier score in the reward, METHOD 4.2; in [0, 1]. */
  readonly beta: number;
  /** Discount, METHOD 4.3; in [0, 1]. */
  readonly gamma: number;
  readonly normaliser: 'max1' | 'sumAbs';
  readonly verifierScoreMode: 'signed' | 'yesOnly';
  readonly returnNorm: 'sum' | 'mean';
  /** A stratum whose standard deviation is not above sdMin, or with fewer members, falls back (METHOD 4.4). */
  readonly sdMin: number;
  readonly advEps: number;
  readonly minStratum: number;
  readonly vetoBlocksFallback: boolean;
  /** An uncertified tier with this many observations blocks the fallback; null: never. */
  readonly blockFallbackAfter: number | null;
  /** False: vanilla GRPO with the same judge and no bank, the ablation. */
  readonly useBank: boolean;
  /** Questions asked at one URL state; null: all in scope. */
  readonly maxQuestionsPerState: number | null;
  /** M, training steps between two growths of the bank. */
  readonly growEverySteps: number;
  readonly growMinQuestions: number;
  readonly growMaxQuestions: number;
  /** Groups shown to the proposer, and the gaps of METHOD 5.1. */
  readonly growGroups: number;
  readonly scoreGap: number;
  readonly evidenceGap: number;
  /** Observations at the global key before a question without lift is retired (METHOD 5.4). */
  readonly retireAfter: number;
  readonly adapterMerge: 'average' | 'product';
  /** K, rollouts of an evaluation task; 1: no selection. */
  readonly rolloutBudget: number;
  /** m, odd. */
  readonly votes: number;
  readonly orderGuard: boolean;
  readonly voteTemperature: number;
  readonly retryTemperature: number;
  readonly recalibrationGuard: boolean;
  readonly polarityMismatch: 'resign' | 'veto';
  readonly lossNorm: 'token' | 'sequence' | 'step';
  readonly epsLow: number;
  readonly epsHigh: number;
  /** Weight of the KL term, from 0. */
  readonly kl: number;
}

/** The paper's setting where it speaks, METHOD's defaults where it is silent (README.md lists which is which). */
export const paperHyperparameters: Hyperparameters = {
  certifier: 'default',
  alphaStar: 0.1,
  nMin: 50,
  liftMin: 0.02,
  thetaJ: 0.5,
  eta: 0.01,
  alphaMax: 0.2,
  suspend: 0.05,
  decay: 0.97,
  zRecent: 1.2815515655446004,
  grid: [0.2, 0.5, 0.9],
  bins: 41,
  aciWarmup: 9,
  bEps: 1e-9,
  groupSize: 8,
  quorum: 6,
  beta: 0.15,
  gamma: 0.95,
  normaliser: 'max1',
  verifierScoreMode: 'signed',
  returnNorm: 'sum',
  sdMin: 1e-4,
  advEps: 1e-6,
  minStratum: 2,
  vetoBlocksFallback: true,
  blockFallbackAfter: null,
  useBank: true,
  maxQuestionsPerState: null,
  growEverySteps: 60,
  growMinQuestions: 3,
  growMaxQuestions: 5,
  growGroups: 8,
  scoreGap: 0.2,
  evidenceGap: 0.05,
  retireAfter: 400,
  adapterMerge: 'average',
  rolloutBudget: 4,
  votes: 3,
  orderGuard: false,
  voteTemperature: 0.7,
  retryTemperature: 1,
  recalibrationGuard: false,
  polarityMismatch: 'resign',
  lossNorm: 'token',
  epsLow: 0.2,
  epsHigh: 0.2,
  kl: 0,
};

const counts = [
  'nMin',
  'bins',
  'aciWarmup',
  'groupSize',
  'quorum',
  'minStratum',
  'growEverySteps',
  'growMinQuestions',
  'growMaxQuestions',
  'growGroups',
  'retireAfter',
  'rolloutBudget',
  'votes',
] as const;

const unitValues = [
  'alphaStar',
  'liftMin',
  'thetaJ',
  'eta',
  'alphaMax',
  'suspend',
  'decay',
  'beta',
  'gamma',
  'scoreGap',
  'evidenceGap',
  'epsLow',
] as const;

const nonNegative = [
  'zRecent',
  'bEps',
  'sdMin',
  'advEps',
  'voteTemperature',
  'retryTemperature',
  'epsHigh',
  'kl',
] as const;

/** Returns its argument; throws a RangeError that names the first value out of range. */
export function checkHyperparameters(h: Hyperparameters): Hyperparameters {
  for (const name of counts) count(name, h[name]);
  for (const name of unitValues) within(name, h[name], 0, 1);
  for (const name of nonNegative) within(name, h[name], 0, Number.MAX_VALUE);
  if (h.alphaStar === 0) invalid('alphaStar', h.alphaStar, 'above 0');
  if (h.votes % 2 === 0) invalid('votes', h.votes, 'odd');
  if (h.bins % 2 === 0) invalid('bins', h.bins, 'odd, so that no evidence is a bin of its own');
  if (h.groupSize < 2) invalid('groupSize', h.groupSize, 'at least 2');
  if (h.quorum < 2 || h.quorum > h.groupSize) invalid('quorum', h.quorum, 'from 2 to groupSize');
  if (h.rolloutBudget < 1) invalid('rolloutBudget', h.rolloutBudget, 'at least 1');
  if (h.growMinQuestions > h.growMaxQuestions)
    invalid('growMinQuestions', h.growMinQuestions, 'at most growMaxQuestions');
  for (const lambda of h.grid)
    if (!(lambda > 0 && lambda < 1)) invalid('grid', lambda, 'between 0 and 1, both excluded');
  if (h.grid.length === 0) invalid('grid', 'no value', 'at least one bet');
  if (h.blockFallbackAfter !== null) count('blockFallbackAfter', h.blockFallbackAfter);
  if (h.maxQuestionsPerState !== null) count('maxQuestionsPerState', h.maxQuestionsPerState);
  return h;
}

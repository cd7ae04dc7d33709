import { finite, sameLength } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';
import { mean } from './mean.ts';
import type { Span } from './token-advantage.ts';

/** Token rows of one rollout, all of one length. Log-probabilities are natural logarithms. */
export interface LossRollout {
  readonly newLogProbs: readonly number[];
  readonly oldLogProbs: readonly number[];
  /** Of the reference policy; needed only when kl > 0. */
  readonly refLogProbs?: readonly number[];
  /** Constants: no gradient flows through them. */
  readonly advantages: readonly number[];
  readonly mask: readonly (0 | 1)[];
  /** Tool-call spans; needed only by the norm `step`. */
  readonly spans?: readonly Span[];
}

export type LossOptions = Pick<Hyperparameters, 'lossNorm' | 'epsLow' | 'epsHigh' | 'kl'>;

export interface Loss {
  readonly loss: number;
  /** Mean KL estimate over the masked tokens, 0 without a reference. */
  readonly kl: number;
  /** Share of masked tokens whose clip is active, in [0, 1]. */
  readonly clipShare: number;
}

interface TokenLoss {
  readonly loss: number;
  readonly kl: number;
  readonly clipped: boolean;
}

/** METHOD 8: the reference for every trainer. A batch without masked tokens has loss 0. */
export function policyLoss(batch: readonly LossRollout[], options: LossOptions): Loss {
  const rows = batch.map((rollout) => tokenLosses(rollout, options));
  const tokens = rows.flat().filter((token) => token !== null);
  return {
    loss: finite('loss', normalise(batch, rows, options.lossNorm)),
    kl: finite('kl', mean(tokens.map((token) => token.kl)) ?? 0),
    clipShare: mean(tokens.map((token) => (token.clipped ? 1 : 0))) ?? 0,
  };
}

/** Null for tokens outside the mask: exactly no gradient. */
function tokenLosses(rollout: LossRollout, options: LossOptions): (TokenLoss | null)[] {
  const { newLogProbs, oldLogProbs, refLogProbs, advantages, mask } = rollout;
  sameLength('oldLogProbs', oldLogProbs.length, newLogProbs.length);
  sameLength('advantages', advantages.length, newLogProbs.length);
  sameLength('mask', mask.length, newLogProbs.length);
  if (options.kl > 0) sameLength('refLogProbs', refLogProbs?.length ?? 0, newLogProbs.length);
  return newLogProbs.map((logProb, j) =>
    mask[j] === 1
      ? tokenLoss(logProb, oldLogProbs[j] ?? 0, refLogProbs?.[j] ?? logProb, advantages[j] ?? 0, options)
      : null,
  );
}

function tokenLoss(
  logProb: number,
  old: number,
  reference: number,
  advantage: number,
  { epsLow, epsHigh, kl }: LossOptions,
): TokenLoss {
  finite('newLogProb', logProb);
  finite('oldLogProb', old);
  finite('advantage', advantage);
  const ratio = finite('probability ratio', Math.exp(logProb - old));
  const clippedRatio = Math.min(1 + epsHigh, Math.max(1 - epsLow, ratio));
  const surrogate = Math.min(ratio * advantage, clippedRatio * advantage);
  const difference = finite('refLogProb', reference) - logProb;
  const divergence = finite('KL estimate', Math.exp(difference) - difference - 1);
  return {
    loss: -surrogate + kl * divergence,
    kl: divergence,
    clipped: surrogate < ratio * advantage,
  };
}

function normalise(
  batch: readonly LossRollout[],
  rows: readonly (readonly (TokenLoss | null)[])[],
  norm: LossOptions['lossNorm'],
): number {
  switch (norm) {
    case 'token':
      return maskedMean(rows.flat()) ?? 0;
    case 'sequence':
      return meanOfKept(rows.map(maskedMean));
    case 'step':
      return meanOfKept(
        rows.flatMap((row, i) =>
          (batch[i]?.spans ?? []).map(([start, end]) => maskedMean(row.slice(start, end))),
        ),
      );
  }
}

function maskedMean(tokens: readonly (TokenLoss | null)[]): number | null {
  return mean(tokens.filter((token) => token !== null).map((token) => token.loss));
}

/** A rollout or span without masked tokens is left out of the mean. */
function meanOfKept(means: readonly (number | null)[]): number {
  return mean(means.filter((value) => value !== null)) ?? 0;
}

import { nextAlpha } from './aci.ts';
import { groupEvidence, hardAnswer } from './group-evidence.ts';
import type { Cell, CertifierConstants, Polarity, Tracker, TrackerObservation } from './types.ts';

export type TrackerConstants = Pick<
  CertifierConstants,
  'alphaStar' | 'eta' | 'alphaMax' | 'decay' | 'grid' | 'bins' | 'aciWarmup' | 'bEps' | 'thetaJ'
>;

/** The conformal forecast that a group met before it was counted. */
export interface Forecast {
  /** Smoothed one-sided p-value: small when the question did worse than it usually does. */
  readonly p: number;
  readonly err: 0 | 1;
}

export interface TrackerUpdate {
  readonly tracker: Tracker;
  /** Normalised evidence of the group, unsigned by polarity. */
  readonly x: number;
  /** Null where none was made: warm-up, neutral question, uninformative group. */
  readonly forecast: Forecast | null;
}

export function emptyTracker(
  cell: Cell & { readonly polarity: Polarity },
  constants: Pick<TrackerConstants, 'alphaStar' | 'grid' | 'bins'>,
): Tracker {
  const { qid, version, tier, key, polarity } = cell;
  return {
    schema: 1,
    ...{ qid, version, tier, key, polarity },
    ...{ n: 0, n1: 0, n0: 0, S1: 0, S0: 0, groups: 0, informative: 0, sumC: 0, sumV: 0 },
    logWp: constants.grid.map(() => 0),
    logWm: constants.grid.map(() => 0),
    hist: new Array<number>(constants.bins).fill(0),
    ...{ ewN1: 0, ewN0: 0, ewS1: 0, ewS0: 0, ewX: 0, ewQ: 0 },
    alpha: constants.alphaStar,
    ...{ aciT: 0, aciErr: 0, agreeErr: 0 },
  };
}

/** Adds one group; at most one observation a rollout. METHOD 2.2. */
export function updateTracker(
  tracker: Tracker,
  observations: readonly TrackerObservation[],
  constants: TrackerConstants,
): Tracker {
  return explainUpdate(tracker, observations, constants).tracker;
}

/** As updateTracker, with what the group said and what had been forecast. */
export function explainUpdate(
  tracker: Tracker,
  observations: readonly TrackerObservation[],
  constants: TrackerConstants,
): TrackerUpdate {
  if (observations.length === 0) return { tracker, x: 0, forecast: null };
  const evidence = groupEvidence(observations, constants);
  const counted = addCounts(tracker, observations, constants);
  if (!evidence.informative) return { tracker: counted, x: 0, forecast: null };

  const { x } = evidence;
  const { decay, grid } = constants;
  const { forecast, ...level } = adaptLevel(tracker, x, constants);
  const updated: Tracker = {
    ...counted,
    ...level,
    informative: tracker.informative + 1,
    sumC: tracker.sumC + evidence.C,
    sumV: tracker.sumV + evidence.V,
    logWp: tracker.logWp.map((log, k) => log + Math.log1p((grid[k] ?? 0) * x)),
    logWm: tracker.logWm.map((log, k) => log + Math.log1p(-(grid[k] ?? 0) * x)),
    ewX: decay * tracker.ewX + x,
    ewQ: decay * decay * tracker.ewQ + x * x,
  };
  return { tracker: updated, x, forecast };
}

/** Steps 5 and 6: raw and decayed sums of the answers and their scores. */
function addCounts(
  tracker: Tracker,
  observations: readonly TrackerObservation[],
  { decay, thetaJ }: TrackerConstants,
): Tracker {
  let [n1, S1, S0, disagreements] = [0, 0, 0, 0];
  for (const { pYes, judge } of observations) {
    const answer = hardAnswer(pYes);
    if (answer === 1) {
      n1 += 1;
      S1 += judge;
    } else S0 += judge;
    const predicted = tracker.polarity === -1 ? 1 - answer : answer;
    if (predicted !== (judge >= thetaJ ? 1 : 0)) disagreements += 1;
  }
  const n0 = observations.length - n1;
  return {
    ...tracker,
    n: tracker.n + observations.length,
    n1: tracker.n1 + n1,
    n0: tracker.n0 + n0,
    S1: tracker.S1 + S1,
    S0: tracker.S0 + S0,
    groups: tracker.groups + 1,
    agreeErr: tracker.agreeErr + disagreements,
    ewN1: decay * tracker.ewN1 + n1,
    ewN0: decay * tracker.ewN0 + n0,
    ewS1: decay * tracker.ewS1 + S1,
    ewS0: decay * tracker.ewS0 + S0,
  };
}

type Level = Pick<Tracker, 'alpha' | 'aciT' | 'aciErr' | 'hist'> & { readonly forecast: Forecast | null };

/** Step 4: forecast from the earlier groups alone, then count this one among them. */
function adaptLevel(tracker: Tracker, x: number, constants: TrackerConstants): Level {
  const { alpha, aciT, aciErr, hist, polarity } = tracker;
  if (polarity === 0) return { alpha, aciT, aciErr, hist, forecast: null };

  const bin = evidenceBin(polarity * x, constants.bins);
  const forecast = forecastFor(hist, bin, alpha, constants.aciWarmup);
  return {
    alpha: forecast ? nextAlpha(alpha, forecast.err, constants) : alpha,
    aciT: aciT + (forecast ? 1 : 0),
    aciErr: aciErr + (forecast?.err ?? 0),
    hist: hist.with(bin, (hist[bin] ?? 0) + 1),
    forecast,
  };
}

/** The 1e-9 keeps an x on a bin's edge from moving with the order of the group. */
function evidenceBin(signedX: number, bins: number): number {
  const last = bins - 1;
  return Math.min(last, Math.max(0, Math.floor(((signedX + 1) * last) / 2 + 0.5 + 1e-9)));
}

function forecastFor(hist: readonly number[], bin: number, alpha: number, warmup: number): Forecast | null {
  let [total, below] = [0, 0];
  for (const [index, seen] of hist.entries()) {
    total += seen;
    if (index < bin) below += seen;
  }
  if (total < warmup) return null;
  const p = (below + 0.5 * ((hist[bin] ?? 0) + 1)) / (total + 1);
  return { p, err: p <= alpha ? 1 : 0 };
}

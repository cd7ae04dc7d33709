import { roundingSlack } from './checks.ts';
import { selectByEBh } from './e-bh.ts';
import { trackedLift } from './lift.ts';
import type { CertifierConstants, Reason, Tracker, TrainedCertificate } from './types.ts';

/**
 * METHOD 2.3: certificate or refusal of one tracker, without memory. Under `strict` this is the default rule;
 * the bank-wide part needs all trackers, see certifyBank.
 */
export function certify(tracker: Tracker, constants: CertifierConstants): TrainedCertificate {
  const facts = factsOf(tracker, constants);
  const reasons = failedConditions(tracker, facts, constants);
  return {
    schema: 1,
    ...{ qid: tracker.qid, version: tracker.version, tier: tracker.tier, key: tracker.key },
    liftKind: 'trained',
    weight: reasons.length === 0 ? Math.min(1, Math.max(-1, facts.lift ?? 0)) : 0,
    n: tracker.n,
    alpha: tracker.alpha,
    ...facts,
    reasons,
  };
}

/** All trackers of a bank, in order; under `strict` only those that e-BH selects keep a weight (METHOD 2.6). */
export function certifyBank(
  trackers: readonly Tracker[],
  constants: CertifierConstants,
): TrainedCertificate[] {
  const certificates = trackers.map((tracker) => certify(tracker, constants));
  if (constants.certifier !== 'strict') return certificates;

  const eligible = certificates.filter((c, i) => trackers[i]?.polarity !== 0 && c.n >= constants.nMin);
  const selected = new Set(
    selectByEBh(
      eligible.map((c) => c.logE),
      constants.alphaStar,
    ).map((index) => eligible[index]),
  );
  return certificates.map((c) =>
    selected.has(c) ? c : { ...c, weight: 0, reasons: [...c.reasons, 'bank'] },
  );
}

type Facts = Pick<TrainedCertificate, 'lift' | 'logE' | 'logEminus' | 'z' | 'vetoed'>;

function factsOf(t: Tracker, { alphaStar, nMin }: CertifierConstants): Facts {
  const [logFor, logAgainst] = t.polarity === -1 ? [t.logWm, t.logWp] : [t.logWp, t.logWm];
  const logEminus = logMeanExp(logAgainst);
  const z = t.ewQ <= 1e-12 ? 0 : t.ewX / Math.sqrt(t.ewQ);
  return {
    lift: trackedLift(t),
    logE: logMeanExp(logFor),
    logEminus,
    // Subtracted, because JSON forgets the sign of a zero.
    z: t.polarity === -1 ? 0 - z : z,
    vetoed: t.polarity !== 0 && t.n >= nMin && logEminus >= -Math.log(alphaStar) - roundingSlack,
  };
}

function failedConditions(t: Tracker, facts: Facts, c: CertifierConstants): Reason[] {
  const reasons: Reason[] = [];
  const require = (reason: Reason, holds: boolean): void => {
    if (!holds) reasons.push(reason);
  };
  require('neutral', t.polarity !== 0);
  require('n', t.n >= c.nMin);
  require('lift', facts.lift !== null && t.polarity * facts.lift >= c.liftMin - roundingSlack);
  switch (c.certifier) {
    case 'naive':
      return reasons;
    case 'agreement':
      require('evidence', t.agreeErr <= c.alphaStar * t.n + roundingSlack);
      return reasons;
    case 'default':
    case 'strict':
      require('evidence', facts.logE >= -Math.log(c.alphaStar) - roundingSlack);
      require('recency', t.polarity !== 0 && facts.z >= c.zRecent);
      require('suspended', t.alpha >= c.suspend - roundingSlack);
      require('vetoed', !facts.vetoed);
      return reasons;
  }
}

/** log of the mean of the bets' wealth, without leaving the logarithms. */
function logMeanExp(logs: readonly number[]): number {
  const top = Math.max(...logs);
  let sum = 0;
  for (const log of logs) sum += Math.exp(log - top);
  return top + Math.log(sum / logs.length);
}

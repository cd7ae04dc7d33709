import { finite, roundingSlack } from './checks.ts';
import { selectByEBh } from './e-bh.ts';
import { trackedLift } from './lift.ts';
import type { CertifierConstants, Reason, Tracker, TrainedCertificate } from './types.ts';

/**
 * METHOD 2.3: certificate or refusal of one tracker, without memory. Under `strict` this is the default rule;
 * the bank-wide part needs all trackers, see certifyBank.
 */
export function certify(tracker: Tracker, constants: CertifierConstants): TrainedCertificate {
  const { qid, version, tier, key, polarity, n, alpha } = tracker;
  const lift = trackedLift(tracker);
  const logE = finite('logE', logMeanExp(polarity === -1 ? tracker.logWm : tracker.logWp));
  const logEminus = finite('logEminus', logMeanExp(polarity === -1 ? tracker.logWp : tracker.logWm));
  const z = finite('z', recency(tracker));
  const enough = enoughEvidence(constants);
  const vetoed = polarity !== 0 && n >= constants.nMin && logEminus >= enough;
  const reasons = failedConditions(tracker, { lift, z, vetoed, evident: logE >= enough }, constants);
  const weight = reasons.length === 0 ? Math.min(1, Math.max(-1, lift ?? 0)) : 0;
  return {
    schema: 1,
    qid,
    version,
    tier,
    key,
    liftKind: 'trained',
    weight,
    lift,
    n,
    logE,
    logEminus,
    z,
    alpha,
    vetoed,
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

/** Decayed evidence in standard deviations, signed by polarity. */
function recency({ polarity, ewX, ewQ }: Tracker): number {
  const z = ewQ <= 1e-12 ? 0 : ewX / Math.sqrt(ewQ);
  // Subtracted, because JSON forgets the sign of a zero.
  return polarity === -1 ? 0 - z : z;
}

/** Where a log e-value counts as evidence, for certificates and vetoes alike. */
const enoughEvidence = ({ alphaStar }: CertifierConstants): number => -Math.log(alphaStar) - roundingSlack;

type Facts = Pick<TrainedCertificate, 'lift' | 'z' | 'vetoed'> & { readonly evident: boolean };

function failedConditions(t: Tracker, { lift, z, vetoed, evident }: Facts, c: CertifierConstants): Reason[] {
  const reasons: Reason[] = [];
  if (t.polarity === 0) reasons.push('neutral');
  if (t.n < c.nMin) reasons.push('n');
  if (lift === null || t.polarity * lift < c.liftMin - roundingSlack) reasons.push('lift');
  switch (c.certifier) {
    case 'naive':
      return reasons;
    case 'agreement':
      if (t.agreeErr > c.alphaStar * t.n + roundingSlack) reasons.push('evidence');
      return reasons;
    case 'default':
    case 'strict':
      if (!evident) reasons.push('evidence');
      if (t.polarity === 0 || z < c.zRecent) reasons.push('recency');
      if (t.alpha < c.suspend - roundingSlack) reasons.push('suspended');
      if (vetoed) reasons.push('vetoed');
      return reasons;
  }
}

/** log of the mean of the bets' wealth, without leaving the logarithms. */
function logMeanExp(logs: readonly number[]): number {
  let top = Number.NEGATIVE_INFINITY;
  for (const log of logs) top = Math.max(top, log);
  let sum = 0;
  for (const log of logs) sum += Math.exp(log - top);
  return top + Math.log(sum / logs.length);
}

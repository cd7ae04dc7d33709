import { roundingSlack } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';
import type { Certificate, Polarity, Question, TrainedCertificate } from './types.ts';

export interface Repair {
  /** The old version, neutral from now on. */
  readonly retiredSign: Question;
  /** The next version with the other sign; it starts with fresh trackers, because the old data chose the sign. */
  readonly successor: Question;
}

/**
 * METHOD 5.4: repairs a contradicted sign. Only a hard veto at the global key flips the polarity (one at a host or
 * path merely blocks the fallback there). A neutral question whose evidence for or against reaches 1/alpha* gets a
 * signed successor in the same way. `latestVersion`: the highest version of the question that exists, which is
 * the only one that may be repaired. Null: nothing to repair.
 */
export function repairPolarity(
  question: Question,
  globalCertificate: TrainedCertificate,
  latestVersion: number,
  constants: Pick<Hyperparameters, 'alphaStar' | 'nMin'>,
): Repair | null {
  if (question.status === 'retired' || question.version !== latestVersion) return null;
  const polarity = successorPolarity(question.polarity, globalCertificate, constants);
  if (polarity === null) return null;
  return {
    retiredSign: { ...question, polarity: 0, status: 'neutral' },
    successor: {
      ...question,
      version: latestVersion + 1,
      polarity,
      status: 'candidate',
      provenance: { source: 'repair', parent: `${question.id}@${question.version}` },
    },
  };
}

function successorPolarity(
  polarity: Polarity,
  { vetoed, logE, logEminus, n }: TrainedCertificate,
  { alphaStar, nMin }: Pick<Hyperparameters, 'alphaStar' | 'nMin'>,
): 1 | -1 | null {
  if (polarity !== 0) {
    if (!vetoed) return null;
    return polarity === 1 ? -1 : 1;
  }
  const evidence = Math.max(logE, logEminus);
  if (n < nMin || evidence < -Math.log(alphaStar) - roundingSlack) return null;
  return logE > logEminus ? 1 : -1;
}

/**
 * METHOD 5.4: whether a question is retired: enough observations at the global key, no tier ever certified, and
 * no lift worth the name at any tier.
 */
export function shouldRetire(
  certificates: readonly Certificate[],
  everCertified: boolean,
  constants: Pick<Hyperparameters, 'retireAfter' | 'liftMin'>,
): boolean {
  const atGlobal = certificates.find((certificate) => certificate.tier === 'global');
  if (everCertified || atGlobal === undefined || atGlobal.n < constants.retireAfter) return false;
  return certificates.every(({ lift }) => Math.abs(lift ?? 0) < constants.liftMin);
}

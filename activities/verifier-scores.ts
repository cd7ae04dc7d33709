/** R_VQ at every URL state of a rollout, from its stored answers and a snapshot's certificates (METHOD 4.1). */
import type { StoredAnswer, StoredRollout } from '../bank-store/contract.ts';
import type { EvidenceLine, EvidenceSheet } from '../models/contract.ts';
import { trajectoryEvidence } from '../workflows/method/evidence.ts';
import type { Hyperparameters } from '../workflows/method/hyperparameters.ts';
import { indexCertificates, lookUp, questionKey } from '../workflows/method/lookup.ts';
import type { Certificate, Question } from '../workflows/method/types.ts';
import { verifierScore } from '../workflows/method/verifier-score.ts';
import { statePathKeys } from './trajectory.ts';

export interface Bank {
  readonly questions: readonly Question[];
  readonly certificates: readonly Certificate[];
}

/** One line a certified question and URL state: what the score is made of, and what selectors read. */
export function evidenceSheet(
  rollout: StoredRollout,
  answers: readonly StoredAnswer[],
  bank: Bank,
  hyperparameters: Hyperparameters,
): EvidenceSheet {
  const certificates = indexCertificates(bank.certificates);
  const texts = new Map(
    bank.questions.map((question) => [questionKey(question.id, question.version), question.text]),
  );
  const lines = answers.flatMap(({ questionId, version, pYes, pathKey, hostKey }): EvidenceLine[] => {
    const byKey = certificates.get(questionKey(questionId, version));
    const text = texts.get(questionKey(questionId, version));
    if (pYes === null || byKey === undefined || text === undefined) return [];
    const found = lookUp(byKey, { pathKey, hostKey }, hyperparameters);
    if (found === null) return [];
    const { weight, lift } = found.certificate;
    return [{ pathKey, questionId, text, tier: found.tier, weight, lift, pYes }];
  });
  const scores = scoresByState(lines, hyperparameters);
  // States at which nothing is certified count, with score 0: silence is no evidence.
  const evidence = trajectoryEvidence(statePathKeys(rollout).map((state) => scores.get(state) ?? 0));
  return { rolloutId: rollout.rollout.id, lines, evidence };
}

/** Only states with a certified question have an entry; the score of any other is 0. */
export function scoresByState(
  lines: readonly EvidenceLine[],
  hyperparameters: Hyperparameters,
): ReadonlyMap<string, number> {
  const byState = Map.groupBy(lines, (line) => line.pathKey);
  return new Map([...byState].map(([pathKey, at]) => [pathKey, verifierScore(at, hyperparameters)]));
}

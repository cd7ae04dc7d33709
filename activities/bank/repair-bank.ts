import type { BankStore } from '../../bank-store/contract.ts';
import { certify } from '../../workflows/method/certify.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import { repairPolarity, shouldRetire } from '../../workflows/method/repair.ts';
import type { Question, Tracker } from '../../workflows/method/types.ts';
import type { TrainingStepRef } from '../contracts.ts';
import { trainConfigSchema } from '../run-config.ts';
import { withCurrentSigns } from './signed-trackers.ts';

/**
 * METHOD 5.4: contradicted signs get a successor with fresh trackers, useless questions are asked no more. Reads the
 * questions as they were during the step, so that a repeat decides what its first try decided.
 */
export async function repairBank(
  store: BankStore,
  at: TrainingStepRef,
): Promise<{ readonly repaired: number; readonly retired: number }> {
  const run = await store.getRun(at.runId);
  const { hyperparameters } = trainConfigSchema.parse(run.config);
  const [{ questions }, certified, trackers] = await Promise.all([
    store.snapshotAt({ ...at, step: at.step - 1 }),
    store.everCertified(at),
    store.trackers(at.runId, at.shard),
  ]);
  const open = questions.filter(({ status }) => status !== 'retired');
  const trackersOf = Map.groupBy(withCurrentSigns(trackers, questions), ({ qid, version }) =>
    questionKey(qid, version),
  );
  const everCertified = new Set(certified.map(({ qid, version }) => questionKey(qid, version)));
  const repaired: Question[] = [];
  const retired: Question[] = [];
  for (const question of open) {
    const key = questionKey(question.id, question.version);
    const own = trackersOf.get(key) ?? [];
    const repair = repairOf(question, own, questions, hyperparameters);
    if (repair !== null) repaired.push(repair.retiredSign, repair.successor);
    else if (isUseless(own, everCertified.has(key), hyperparameters)) {
      retired.push({ ...question, status: 'retired' });
    }
  }
  await store.saveQuestions(at, [...repaired, ...retired]);
  return { repaired: repaired.length / 2, retired: retired.length };
}

function repairOf(
  question: Question,
  trackers: readonly Tracker[],
  questions: readonly Question[],
  hyperparameters: Hyperparameters,
) {
  const atGlobal = trackers.find(({ tier }) => tier === 'global');
  if (atGlobal === undefined) return null;
  const versions = questions.filter(({ id }) => id === question.id).map(({ version }) => version);
  return repairPolarity(question, certify(atGlobal, hyperparameters), Math.max(...versions), hyperparameters);
}

function isUseless(trackers: readonly Tracker[], everCertified: boolean, h: Hyperparameters): boolean {
  return shouldRetire(
    trackers.map((tracker) => certify(tracker, h)),
    everCertified,
    h,
  );
}

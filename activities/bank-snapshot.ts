import type { BankStore, StepKey } from '../bank-store/contract.ts';
import { questionKey } from '../workflows/method/lookup.ts';
import type { Bank } from './verifier-scores.ts';

/**
 * The bank as it stood after a training step (−1: before training), reduced to what may speak: certificates of a
 * question that was retired or lost its sign since are void, even where no group has touched their key again.
 */
export async function readBank(store: BankStore, at: StepKey): Promise<Bank> {
  const { questions, certificates } = await store.snapshotAt(at);
  const speaking = new Set(
    questions
      .filter(({ status, polarity }) => status !== 'retired' && polarity !== 0)
      .map(({ id, version }) => questionKey(id, version)),
  );
  return {
    questions,
    certificates: certificates.filter(({ qid, version }) => speaking.has(questionKey(qid, version))),
  };
}

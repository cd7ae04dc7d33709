import type { BankStore } from '../../bank-store/contract.ts';
import type { Selector, SelfVerifier } from '../../models/contract.ts';

/** The judge is absent by type: whoever serves this queue cannot call one (invariant 9). */
export interface LlmDependencies {
  readonly store: BankStore;
  readonly selfVerifier: SelfVerifier;
  readonly selector: Selector;
}

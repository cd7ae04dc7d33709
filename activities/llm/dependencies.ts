import type { BankStore } from '../../bank-store/contract.ts';
import type { Selector, SelfVerifier } from '../../models/contract.ts';
import type { ModelChoice } from '../model-config.ts';

/** The judge is absent by type: whoever serves this queue cannot call one (invariant 9). */
export interface LlmDependencies {
  readonly store: BankStore;
  readonly selfVerifierFor: (choice: ModelChoice) => SelfVerifier;
  readonly selectorFor: (choice: ModelChoice) => Selector;
}

import type { BankStore } from '../../bank-store/contract.ts';
import type { Judge, Proposer } from '../../models/contract.ts';

export interface JudgeDependencies {
  readonly store: BankStore;
  readonly judge: Judge;
  readonly proposer: Proposer;
}

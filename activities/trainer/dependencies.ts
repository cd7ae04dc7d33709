import type { BankStore } from '../../bank-store/contract.ts';
import type { Trainer } from '../../models/contract.ts';

export interface TrainerDependencies {
  readonly store: BankStore;
  readonly trainer: Trainer;
}

import type { BankStore } from '../../bank-store/contract.ts';
import type { Judge, Proposer } from '../../models/contract.ts';
import type { ModelChoice } from '../model-config.ts';

export interface JudgeDependencies {
  readonly store: BankStore;
  readonly judgeFor: (choice: ModelChoice) => Judge;
  readonly proposerFor: (choice: ModelChoice) => Proposer;
}

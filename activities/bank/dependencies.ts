import type { BankStore } from '../../bank-store/contract.ts';
import type { Trainer } from '../../models/contract.ts';

export interface CpuDependencies {
  readonly store: BankStore;
  /** Needs no GPU. */
  readonly mergeAdapters: Trainer['merge'];
  readonly codeVersion: string;
}

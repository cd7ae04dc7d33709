import type { BankStore } from '../../bank-store/contract.ts';

export interface CpuDependencies {
  readonly store: BankStore;
  /** Averages the shards' adapters; needs no GPU. */
  readonly averageAdapters: (adapters: readonly Uint8Array[]) => Promise<Uint8Array>;
  readonly codeVersion: string;
}

import type { BankStore } from '../../bank-store/contract.ts';
import type { Trainer } from '../../models/contract.ts';
import type { GpuActivities } from '../contracts.ts';
import { initialiseAdapter } from './initialise-adapter.ts';
import { updateAdapter } from './update-adapter.ts';

export interface TrainerDependencies {
  readonly store: BankStore;
  readonly trainer: Trainer;
}

export function createTrainerActivities(dependencies: TrainerDependencies): GpuActivities {
  return {
    initialiseAdapter: (input) => initialiseAdapter(dependencies, input),
    updateAdapter: (input) => updateAdapter(dependencies, input),
  };
}

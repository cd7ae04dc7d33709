import type { GpuActivities } from '../contracts.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { TrainerDependencies } from './dependencies.ts';
import { initialiseAdapter } from './initialise-adapter.ts';
import { updateAdapter } from './update-adapter.ts';

export function createTrainerActivities(dependencies: TrainerDependencies): GpuActivities {
  return {
    initialiseAdapter: (input) => withHeartbeat(() => initialiseAdapter(dependencies, input)),
    updateAdapter: (input) => updateAdapter(dependencies, input),
  };
}

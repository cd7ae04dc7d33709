import type { TrainingStepRef } from '../activities/contracts.ts';
import { cpu, judge } from './activity-proxies.ts';

export interface GrowthSummary {
  readonly repaired: number;
  readonly retired: number;
  readonly accepted: number;
  readonly deficiency: number;
}

/** Every M training steps: repair polarities, retire the useless, mine new questions (METHOD 5.1 to 5.4). */
export async function growBankWorkflow(ref: TrainingStepRef): Promise<GrowthSummary> {
  const { repaired, retired } = await cpu.repairBank(ref);
  const { accepted, deficiency } = await judge.growBank(ref);
  return { repaired, retired, accepted, deficiency };
}

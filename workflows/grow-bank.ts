import type { TrainingStepRef } from '../activities/contracts.ts';
import { cpu, judge } from './activity-proxies.ts';
import { orNull } from './failures.ts';

export interface GrowthSummary {
  readonly repaired: number;
  readonly retired: number;
  readonly accepted: number;
  /** Before the growth, in [0, 1]; null when the proposer could not be had. */
  readonly deficiency: number | null;
}

/** Every M training steps: repair polarities, retire the useless, mine new questions (METHOD 5.1 to 5.4). */
export async function growBankWorkflow(ref: TrainingStepRef): Promise<GrowthSummary> {
  const { repaired, retired } = await cpu.repairBank(ref);
  // A proposer that cannot be had costs the bank its growth, not the run its training.
  const growth = await orNull(() => judge.growBank(ref));
  return { repaired, retired, accepted: growth?.accepted ?? 0, deficiency: growth?.deficiency ?? null };
}

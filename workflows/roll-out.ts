import type { RolloutSummary } from '../activities/contracts.ts';
import { browser, cpu } from './activity-proxies.ts';
import { allOrNone, orNull } from './failures.ts';
import { rolloutId } from './names.ts';

/**
 * The rollouts of a group or an evaluation task, side by side, in generation order. Each is caught on its own; one
 * whose activity is given up counts as the store has it, which may be finished: its worker died before it could say
 * so (invariant 3). Whoever reads the store later sees what this saw.
 */
export function rollOutAll(runId: string, owner: string, count: number): Promise<readonly RolloutSummary[]> {
  return allOrNone(
    Array.from({ length: count }, (_, index) => () => rollOutOne(runId, rolloutId(owner, index))),
  );
}

async function rollOutOne(runId: string, id: string): Promise<RolloutSummary> {
  return (
    (await orNull(() => browser.rollOut({ runId, rolloutId: id }))) ?? cpu.closeRollout({ rolloutId: id })
  );
}

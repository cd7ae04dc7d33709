import type { BankStore } from '../../bank-store/contract.ts';
import type { RolloutSummary } from '../contracts.ts';
import { fault } from '../failures.ts';
import { summariseRollout } from '../rollout-summary.ts';

/**
 * The end of a rollout whose activity was given up. A finished one stays as it is (invariant 3); any other becomes
 * `unscored: infra`, a state of its own and never a number (invariant 1), and an attempt that still runs is fenced out.
 */
export async function closeRollout(
  store: BankStore,
  { rolloutId }: { readonly rolloutId: string },
): Promise<RolloutSummary> {
  await failUnfinished(store, rolloutId, 'no attempt finished before the rollout activity was given up');
  const { finished } = await store.getRollout(rolloutId);
  if (finished !== null) return summariseRollout(rolloutId, finished);
  throw fault('NotFound', `rollout ${rolloutId} has no ending`, 'Start the same command again');
}

/** Keeps a finished rollout. */
export function failUnfinished(store: BankStore, rolloutId: string, cause: string): Promise<void> {
  return store.failRollout(rolloutId, { kind: 'unscored', cause: 'infra' }, cause);
}

import { finite, unit } from './checks.ts';

/**
 * METHOD 4.3: discounted return at every step. `sum` pays for length: at equal quality a longer rest of the
 * rollout has a larger return. `mean` divides by the sum of the discounts and does not.
 */
export function discountedReturns(rewards: readonly number[], gamma: number, norm: 'sum' | 'mean'): number[] {
  unit('gamma', gamma);
  const returns: number[] = [];
  let [sum, discounts] = [0, 0];
  for (const reward of rewards.toReversed()) {
    sum = finite('return', finite('reward', reward) + gamma * sum);
    discounts = 1 + gamma * discounts;
    returns.push(norm === 'sum' ? sum : sum / discounts);
  }
  return returns.reverse();
}

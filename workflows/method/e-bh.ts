import { finite, roundingSlack } from './checks.ts';

/**
 * METHOD 2.6 (Wang and Ramdas 2022): indices, ascending, of the hypotheses rejected at false discovery rate alpha
 * under any dependence. Takes log e-values; equal ones keep their order.
 */
export function selectByEBh(logE: readonly number[], alpha: number): number[] {
  for (const value of logE) finite('logE', value);
  const order = logE.map((_, index) => index).sort((a, b) => (logE[b] ?? 0) - (logE[a] ?? 0));
  let selected = 0;
  for (const [rank, index] of order.entries()) {
    const k = rank + 1;
    if ((logE[index] ?? 0) >= Math.log(logE.length / (alpha * k)) - roundingSlack) selected = k;
  }
  return order.slice(0, selected).sort((a, b) => a - b);
}

import { finite, invalid } from './checks.ts';

/** Summed left to right; null for no values. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Sample standard deviation (ddof 1) with its mean; refuses fewer than two values and overflow. */
export function meanAndDeviation(values: readonly number[]): {
  readonly mean: number;
  readonly deviation: number;
} {
  if (values.length < 2) invalid('the number of values', values.length, 'at least 2');
  const centre = finite('mean', mean(values) ?? 0);
  let squares = 0;
  for (const value of values) squares += (value - centre) ** 2;
  return { mean: centre, deviation: finite('standard deviation', Math.sqrt(squares / (values.length - 1))) };
}

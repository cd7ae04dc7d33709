/** Numbers as reports print them; what is not known is a dash, never a zero. */
import type { MeanInterval, Rate } from '../../workflows/method/rates.ts';

export const UNKNOWN = '–';

export function decimal(value: number | null, digits = 2): string {
  return value === null || !Number.isFinite(value) ? UNKNOWN : value.toFixed(digits);
}

/** With its sign, as lifts and weights are read. */
export function signed(value: number | null, digits = 2): string {
  const text = decimal(value, digits);
  return value !== null && value >= 0 && text !== UNKNOWN ? `+${text}` : text;
}

/** A share of [0, 1]. */
export function percent(share: number | null, digits = 1): string {
  return share === null || !Number.isFinite(share) ? UNKNOWN : `${(100 * share).toFixed(digits)} %`;
}

/** `9/30  30.0 % [16.7, 47.9]`. */
export function rateText(rate: Rate | null): string {
  if (rate === null) return UNKNOWN;
  const { successes, total, low, high } = rate;
  return `${successes}/${total}  ${percent(rate.rate)} [${decimal(100 * low, 1)}, ${decimal(100 * high, 1)}]`;
}

/** Percentage points: `+13.3 [-1.2, +27.8]`. */
export function differenceText(difference: MeanInterval | null): string {
  if (difference === null) return UNKNOWN;
  const points = (value: number) => signed(100 * value, 1);
  return `${points(difference.mean)} [${points(difference.low)}, ${points(difference.high)}]`;
}

/** Null: some price is unknown. */
export function dollars(costUsd: number | null): string {
  return costUsd === null ? 'unknown' : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
}

export const shortDigest = (digest: string | null): string => digest?.slice(0, 12) ?? UNKNOWN;

/** `1 step`, `2 steps`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

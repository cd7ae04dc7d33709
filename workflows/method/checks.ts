/** Ranges of the method's inputs: a value outside is refused with its name (METHOD 1.1). */

export function invalid(name: string, value: unknown, rule: string): never {
  throw new RangeError(`${name} must be ${rule}, but is ${String(value)}`);
}

/** Also guards results: a sum of finite values may overflow. */
export function finite(name: string, value: number): number {
  return Number.isFinite(value) ? value : invalid(name, value, 'finite');
}

export function within(name: string, value: number, low: number, high: number): number {
  return value >= low && value <= high ? value : invalid(name, value, `from ${low} to ${high}`);
}

/** A score or a probability. */
export function unit(name: string, value: number): number {
  return value >= 0 && value <= 1 ? value : invalid(name, value, 'from 0 to 1');
}

export function count(name: string, value: number): number {
  return Number.isSafeInteger(value) && value >= 0 ? value : invalid(name, value, 'a whole number from 0');
}

export function sameLength(name: string, actual: number, expected: number): void {
  if (actual !== expected) invalid(`the length of ${name}`, actual, String(expected));
}

/** Scores on a grid hit the thresholds exactly; rounding must not decide (METHOD 2.3, 2.6, 5.1). */
export const roundingSlack = 1e-12;

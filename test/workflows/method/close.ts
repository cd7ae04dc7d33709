import { expect } from 'vitest';

/** Equal up to rounding: numbers relative to their size, everything else exactly. */
export function expectClose(actual: unknown, expected: unknown, tolerance = 1e-9): void {
  const found = firstDifference(actual, expected, tolerance, 'value');
  expect(found).toBeNull();
}

function firstDifference(actual: unknown, expected: unknown, tolerance: number, at: string): string | null {
  if (typeof actual === 'number' && typeof expected === 'number') {
    const allowed = tolerance * Math.max(1, Math.abs(expected));
    return Math.abs(actual - expected) <= allowed ? null : `${at}: ${actual} instead of ${expected}`;
  }
  if (isObject(actual) && isObject(expected)) {
    for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
      const found = firstDifference(actual[key], expected[key], tolerance, `${at}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  return actual === expected ? null : `${at}: ${String(actual)} instead of ${String(expected)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

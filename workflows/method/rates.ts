import { count, finite, invalid } from './checks.ts';
import { meanAndDeviation } from './mean.ts';
import { studentQuantile } from './student.ts';

/** A share with its interval, all in [0, 1]. */
export interface Rate {
  readonly successes: number;
  readonly total: number;
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

const z95 = 1.959963984540054;

/** Wilson score interval at 95 %; null for an empty denominator: no rate is not rate 0. */
export function wilson(successes: number, total: number): Rate | null {
  count('successes', successes);
  count('total', total);
  if (successes > total) invalid('successes', successes, `at most the total, ${total}`);
  if (total === 0) return null;
  const rate = successes / total;
  const z2 = z95 * z95;
  const centre = (rate + z2 / (2 * total)) / (1 + z2 / total);
  const reach = (z95 / (1 + z2 / total)) * Math.sqrt((rate * (1 - rate)) / total + z2 / (4 * total * total));
  return {
    ...{ successes, total, rate },
    // Exact ends: rounding must not exclude 0 of n or n of n.
    low: successes === 0 ? 0 : centre - reach,
    high: successes === total ? 1 : centre + reach,
  };
}

export interface OutcomeRates {
  /** Over all tasks of the fixed list: unscored ones count in the denominator. */
  readonly ofAll: Rate | null;
  /** Over the tasks that have a verdict. */
  readonly ofScored: Rate | null;
  /** Unscored tasks by cause; a missing result is a named state. */
  readonly unscored: Readonly<Record<string, number>>;
}

/** Invariants 1 and 10: both denominators, and what stands between them. */
export function outcomeRates(
  outcomes: readonly (
    | { readonly kind: 'success' | 'failure' }
    | { readonly kind: 'unscored'; readonly cause: string }
  )[],
): OutcomeRates {
  const successes = outcomes.filter((outcome) => outcome.kind === 'success').length;
  const causes = outcomes.flatMap((outcome) => (outcome.kind === 'unscored' ? [outcome.cause] : []));
  const unscored = Object.fromEntries(
    [...Map.groupBy(causes, (cause) => cause)].map(([cause, all]) => [cause, all.length]),
  );
  return {
    ofAll: wilson(successes, outcomes.length),
    ofScored: wilson(successes, outcomes.length - causes.length),
    unscored,
  };
}

export interface MeanInterval {
  readonly n: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Student interval at 95 % of the mean paired difference (second minus first), one pair a task or seed.
 * Null for fewer than two pairs.
 */
export function pairedInterval(
  pairs: readonly (readonly [first: number, second: number])[],
): MeanInterval | null {
  if (pairs.length < 2) return null;
  const differences = pairs.map(
    ([first, second]) => finite('paired value', second) - finite('paired value', first),
  );
  const { mean, deviation } = meanAndDeviation(differences);
  const reach = (studentQuantile(0.975, pairs.length - 1) * deviation) / Math.sqrt(pairs.length);
  return {
    n: pairs.length,
    mean: finite('mean', mean),
    low: finite('low', mean - reach),
    high: finite('high', mean + reach),
  };
}

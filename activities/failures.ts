/**
 * The failure vocabulary (HOUSE style 7). An *outcome* is data and never thrown; *weather* passes and is retried;
 * a *fault* needs a person, so its message says what to do.
 */
import { ApplicationFailure } from '@temporalio/common';

export type Weather =
  | 'BrowserCrashed'
  | 'NetworkDown'
  | 'StoreUnavailable'
  | 'ProviderUnavailable'
  | 'RateLimited'
  | 'WorkerDraining';

export type Fault =
  | 'SpecInvalid'
  | 'Tampered'
  | 'BatchConflict'
  | 'BudgetExceeded'
  | 'ProviderRefused'
  | 'NotFound'
  | 'AttemptsExhausted'
  | 'Fenced'
  | 'PayloadsTooLarge';

/** Also listed in every retry policy, so that third-party code which throws these types is covered. */
export const faults: readonly Fault[] = [
  'SpecInvalid',
  'Tampered',
  'BatchConflict',
  'BudgetExceeded',
  'ProviderRefused',
  'NotFound',
  'AttemptsExhausted',
  'Fenced',
  'PayloadsTooLarge',
];

/** Something that passes: the activity's retry policy decides how often to try again. */
export function weather(
  type: Weather,
  message: string,
  cause?: unknown,
  retryAfterMs?: number,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: false,
    ...(cause instanceof Error ? { cause } : {}),
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}

/** Something that will not pass by itself; `remedy` is what a person should do. */
export function fault(type: Fault, message: string, remedy: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: `${message}. ${remedy}`, nonRetryable: true });
}

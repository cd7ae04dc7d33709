/**
 * The failure vocabulary (HOUSE style 7). An *outcome* is data and never thrown; *weather* passes and is retried;
 * a *fault* needs a person, so its message says what to do.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { Fault } from '../workflows/faults.ts';

export type Weather =
  | 'BrowserCrashed'
  | 'NetworkDown'
  | 'StoreUnavailable'
  | 'ProviderUnavailable'
  | 'RateLimited'
  | 'WorkerDraining'
  | 'Fenced';

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

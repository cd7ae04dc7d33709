import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import { z } from 'zod';
import { fault, weather } from '../activities/failures.ts';
import {
  AccountBusy,
  BatchConflictError,
  BlobAltered,
  BlobMissing,
  FencedError,
  NotFound,
  StoredDataInvalid,
  StoreError,
} from '../bank-store/errors.ts';
import { ProviderError, remedyFor } from '../models/providers/errors.ts';
import { outages } from '../workflows/faults.ts';

/** The one place where errors of the rooms become failures that retry policies understand. */
export const failureInterceptor: ActivityInterceptorsFactory = ({ info }) => {
  const inbound: ActivityInboundCallsInterceptor = {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw withPatience(translateFailure(error), info.attempt);
      }
    },
  };
  return { inbound };
};

/** Tries that go by the activity's own policy; they last some five minutes. */
const QUICK_TRIES = 9;
const MINUTE_MS = 60_000;
/** The database comes back within minutes or with a person; everything waits for it. */
const LONGEST_WAIT_MS = { ProviderUnavailable: 15, RateLimited: 15, StoreUnavailable: 2 } as const;

/**
 * Stretches the later waits of an outage: thirty tries a minute apart would be used up by a provider's bad hour, and
 * what then pauses needs a person. Thirty with these waits last four hours.
 */
export function withPatience(failure: unknown, attempt: number): unknown {
  if (!(failure instanceof ApplicationFailure) || attempt <= QUICK_TRIES) return failure;
  const type = outages.find((outage) => outage === failure.type);
  if (type === undefined) return failure;
  const waitMs = MINUTE_MS * Math.min(LONGEST_WAIT_MS[type], 2 ** (attempt - QUICK_TRIES - 1));
  const { nextRetryDelay: asked } = failure;
  if (typeof asked === 'number' && asked >= waitMs) return failure;
  return weather(type, failure.message, failure.cause, waitMs);
}

/** Errors that nobody has classified stay as they are: they are retried, a bounded number of times. */
export function translateFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof StoreError) return storeFailure(error);
  if (error instanceof ProviderError) return providerFailure(error);
  if (error instanceof z.ZodError) {
    return fault(
      'SpecInvalid',
      z.prettifyError(error),
      'Stored data or a model reply does not have its shape',
    );
  }
  if (error instanceof RangeError) {
    return fault(
      'SpecInvalid',
      error.message,
      'A value is outside its range; correct it where it comes from',
    );
  }
  return error;
}

/**
 * No policy waits longer by itself. The account's door keeps everybody out for as long as the server asked; a short
 * pause must not take the place of waits that grow, or a busy minute would use up all tries of a call.
 */
const LONGEST_POLICY_WAIT_MS = 60_000;

function providerFailure(error: ProviderError): ApplicationFailure {
  const { kind, message, retryable, retryAfterMs } = error;
  if (retryable) {
    const type = kind === 'rate_limited' ? 'RateLimited' : 'ProviderUnavailable';
    const isLong = retryAfterMs !== null && retryAfterMs > LONGEST_POLICY_WAIT_MS;
    return weather(type, message, error, isLong ? retryAfterMs : undefined);
  }
  // What no later call of the run would survive either, as opposed to what is wrong with this one.
  const isForAll = ['auth', 'quota', 'not_found', 'unsupported'].includes(kind);
  return fault(isForAll ? 'ModelUnusable' : 'ProviderRefused', message, remedyFor(kind));
}

function storeFailure(error: StoreError): ApplicationFailure {
  if (error instanceof AccountBusy) {
    return weather('RateLimited', error.message, error, error.retryAfterMs ?? undefined);
  }
  if (error instanceof FencedError) return weather('Fenced', error.message, error);
  if (error.retryable) return weather('StoreUnavailable', error.message, error);
  if (error instanceof BatchConflictError) {
    return fault(
      'BatchConflict',
      error.message,
      'Two batches claim one training step; inspect both before going on',
    );
  }
  if (error instanceof NotFound)
    return fault('NotFound', error.message, 'Check the run and the database it was made in');
  if (error instanceof BlobMissing || error instanceof BlobAltered || error instanceof StoredDataInvalid) {
    return fault(
      'Tampered',
      error.message,
      'Restore the file from a backup, then start the same command again',
    );
  }
  return fault(
    'StoreConflict',
    error.message,
    'Two writers disagree about one fact; inspect it before going on',
  );
}

import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { AccountBusy, NotFound, StoreUnavailable } from '../../bank-store/index.ts';
import { ProviderError, type ProviderErrorKind } from '../../models/providers/errors.ts';
import { translateFailure } from '../../workers/failure-interceptor.ts';
import { faults, pausingFaults } from '../../workflows/faults.ts';

function translated(error: Error): ApplicationFailure {
  const failure = translateFailure(error);
  if (failure instanceof ApplicationFailure) return failure;
  throw new Error('it was not translated');
}

const provider = (kind: ProviderErrorKind) => translated(new ProviderError(kind, 'words', 1_500));

describe('a provider error', () => {
  test.each([
    ['rate_limited', 'RateLimited'],
    ['unavailable', 'ProviderUnavailable'],
    ['timeout', 'ProviderUnavailable'],
    ['network', 'ProviderUnavailable'],
    ['cut', 'ProviderUnavailable'],
    ['malformed', 'ProviderUnavailable'],
  ] as const)('%s passes: the activity tries again, after the time that was asked for', (kind, type) => {
    expect(provider(kind)).toMatchObject({ type, nonRetryable: false, nextRetryDelay: 1_500 });
  });

  test.each(['auth', 'quota', 'not_found', 'unsupported'] as const)(
    '%s would meet every later call, so the run pauses',
    (kind) => {
      const { type, nonRetryable, message } = provider(kind);
      expect(nonRetryable).toBe(true);
      expect(pausingFaults).toContain(type);
      expect(message).toMatch(/^words\. \w+/);
    },
  );

  test.each(['bad_request', 'context_length', 'too_large'] as const)(
    '%s is the matter of one call: no retry, and the run goes on',
    (kind) => {
      const { type, nonRetryable } = provider(kind);
      expect(nonRetryable).toBe(true);
      expect(faults).toContain(type);
      expect(pausingFaults).not.toContain(type);
    },
  );
});

test('an account without a free place is weather that says when to come back', () => {
  expect(translated(new AccountBusy('busy', 700))).toMatchObject({
    type: 'RateLimited',
    nonRetryable: false,
    nextRetryDelay: 700,
  });
});

test('a store that is down passes, what it does not have does not', () => {
  expect(translated(new StoreUnavailable('down')).nonRetryable).toBe(false);
  expect(translated(new NotFound('gone')).nonRetryable).toBe(true);
});

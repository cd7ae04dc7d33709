import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fault, weather } from '../../activities/failures.ts';
import * as storeErrors from '../../bank-store/errors.ts';
import { ProviderError } from '../../models/providers/errors.ts';
import { translateFailure, withPatience } from '../../workers/failure-interceptor.ts';
import { faults } from '../../workflows/faults.ts';

const translated = (error: unknown): ApplicationFailure => {
  const failure = translateFailure(error);
  if (failure instanceof ApplicationFailure) return failure;
  throw new Error(`${String(error)} became no failure that a retry policy understands`);
};

const zodErrorOf = (schema: z.ZodType, value: unknown): unknown => schema.safeParse(value).error;

describe('an error of the store', () => {
  const { StoreError, AccountBusy, RunIdentityMismatch, ...plain } = storeErrors;
  const samples = [
    new AccountBusy('no place', null),
    new RunIdentityMismatch('run-1', ['seed: stored 1, given 2']),
    ...Object.values(plain).map((Kind) => new Kind('it happened')),
  ];

  it.each(samples.map((error) => [error.name, error] as const))(
    'is a failure that says whether to retry: %s',
    (_, error) => {
      expect(error).toBeInstanceOf(StoreError);
      const failure = translated(error);
      expect(failure.nonRetryable).toBe(!error.retryable);
      expect(failure.message).toContain(error.message);
      // Retry policies know faults by type, so every fault has to be one that they list.
      expect(faults.some((type) => type === failure.type)).toBe(!error.retryable);
    },
  );

  it.each([
    ['StoreUnavailable', new plain.StoreUnavailable('down')],
    ['StoreUnavailable', new plain.CallInFlight('elsewhere')],
    ['RateLimited', new AccountBusy('no place', null)],
    ['NotFound', new plain.NotFound('nothing')],
    ['Fenced', new plain.FencedError('taken over')],
    ['BatchConflict', new plain.BatchConflictError('two batches')],
    ['Tampered', new plain.BlobMissing('gone')],
    ['Tampered', new plain.BlobAltered('changed')],
    ['Tampered', new plain.StoredDataInvalid('odd')],
    ['StoreConflict', new plain.ContentConflict('differs')],
    ['StoreConflict', new plain.StepGap('gap')],
    ['StoreConflict', new plain.StepOrderError('late')],
  ] as const)('has the type %s', (type, error) => {
    expect(translated(error).type).toBe(type);
  });

  it('lets a fenced rollout try again: whoever claimed it last may be a zombie that nobody waits for', () => {
    expect(translated(new plain.FencedError('taken over')).nonRetryable).toBe(false);
  });

  it('keeps the time at which an account asked to be tried again', () => {
    expect(translated(new AccountBusy('closed', 7_000)).nextRetryDelay).toBe(7_000);
    expect(translated(new AccountBusy('closed', null)).nextRetryDelay).toBeUndefined();
  });
});

describe('an error of a model server', () => {
  it.each([0, 500, 59_000])(
    'that asks for a pause of %i ms, again and again, does not use up the tries of its policy',
    (retryAfterMs) => {
      const failure = translated(new ProviderError('rate_limited', 'HTTP 429', retryAfterMs));
      expect(failure).toMatchObject({ type: 'RateLimited', nonRetryable: false });
      expect(failure.nextRetryDelay).toBeUndefined();
    },
  );

  it('that asks for longer than any policy waits is asked again then', () => {
    expect(translated(new ProviderError('unavailable', 'HTTP 529', 300_000)).nextRetryDelay).toBe(300_000);
  });
});

describe('any other error', () => {
  it('that does not fit its shape or range is a fault that names the place', () => {
    const shape = zodErrorOf(z.object({ score: z.number() }), { score: 'high' });
    expect(translated(shape)).toMatchObject({ type: 'SpecInvalid', nonRetryable: true });
    expect(translated(shape).message).toContain('score');
    expect(translated(new RangeError('eta is 7, not in [0, 1]'))).toMatchObject({
      ...{ type: 'SpecInvalid', nonRetryable: true },
      message: expect.stringContaining('eta is 7'),
    });
  });

  it('that is classified already, a cancellation or unknown stays as it is', () => {
    const others = [
      fault('NotFound', 'nothing', 'Look elsewhere'),
      weather('NetworkDown', 'no network'),
      new CancelledFailure('stop'),
      new Error('a defect'),
      'a string',
      undefined,
    ];
    for (const error of others) expect(translateFailure(error)).toBe(error);
  });
});

describe('an outage', () => {
  const waitsOf = (failure: ApplicationFailure, tries: number) =>
    Array.from({ length: tries }, (_, index) => {
      const stretched = withPatience(failure, index + 1);
      expect(stretched).toMatchObject({ type: failure.type, message: failure.message, nonRetryable: false });
      return stretched instanceof ApplicationFailure ? stretched.nextRetryDelay : 'no failure';
    });
  const minute = 60_000;

  it('of a provider is waited for in steps that grow to a quarter of an hour, four hours in all', () => {
    const waits = waitsOf(weather('ProviderUnavailable', 'HTTP 503'), 30);
    expect(waits.slice(0, 9)).toEqual(Array(9).fill(undefined));
    expect(waits.slice(9, 14)).toEqual([1, 2, 4, 8, 15].map((minutes) => minutes * minute));
    expect(new Set(waits.slice(14))).toEqual(new Set([15 * minute]));
    expect(waits.slice(9).reduce<number>((sum, wait) => sum + Number(wait), 0)).toBeGreaterThan(
      4 * 60 * minute,
    );
  });

  it('of the database ends soon for those who wait, when it ends', () => {
    const waits = waitsOf(weather('StoreUnavailable', 'refused'), 60);
    expect(waits.slice(9, 12)).toEqual([minute, 2 * minute, 2 * minute]);
    expect(waits.at(-1)).toBe(2 * minute);
  });

  it('is left the longer time that the server itself has asked for', () => {
    const asked = weather('RateLimited', 'HTTP 429', undefined, 40 * minute);
    expect(withPatience(asked, 30)).toBe(asked);
  });

  it('is no other weather: what is wrong with one page or one worker is tried again at the usual pace', () => {
    for (const type of ['BrowserCrashed', 'NetworkDown', 'WorkerDraining', 'Fenced'] as const) {
      const failure = weather(type, 'it happened');
      expect(withPatience(failure, 25)).toBe(failure);
    }
    const defect = new Error('a defect');
    expect(withPatience(defect, 25)).toBe(defect);
  });
});

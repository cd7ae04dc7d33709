import { DatabaseError } from 'pg';
import { NotFound, StoreUnavailable } from './errors.ts';

/** Node's codes for a connection that could not be made or was lost. */
const lostConnection = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** SQLSTATE classes and codes that pass: connection, resources, shutdown, cancelled by a timeout, lock timeout. */
const passing = /^(08|53|57P0[1-5]|57014|58|55P03)/;

/** pg and pg-pool report these without a code. */
const passingMessage =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/;

/** Turns what pg throws into the store's vocabulary; anything unknown stays as it is. */
export function translateDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof DatabaseError) {
    if (passing.test(error.code ?? '')) return unavailable(error);
    if (error.code === '23503') {
      return new NotFound(`${error.detail ?? error.message} Create what the row refers to first.`, {
        cause: error,
      });
    }
    return error;
  }
  const code = 'code' in error ? String(error.code) : '';
  return lostConnection.has(code) || passingMessage.test(error.message) ? unavailable(error) : error;
}

export const isDeadlock = (error: unknown) =>
  error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');

function unavailable(cause: Error): StoreUnavailable {
  return new StoreUnavailable(
    `the bank store's database is not available: ${cause.message || String(cause)}`,
    {
      cause,
    },
  );
}

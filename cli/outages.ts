import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { StoreUnavailable } from '../bank-store/errors.ts';

/** Long enough for a server to be killed and to come back; what lasts longer needs a person. */
const PATIENCE_MS = 120_000;
/** Clients try by themselves for a while; a call that fails after longer than that had reached its server. */
const CLIENTS_PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;

/** Tries `act`, which can be repeated, until the servers that it needs are back. Throws its error after two minutes. */
export async function throughOutages<T>(act: () => Promise<T>): Promise<T> {
  let awaySince = Date.now();
  for (;;) {
    const began = Date.now();
    try {
      return await act();
    } catch (error) {
      if (Date.now() - began > CLIENTS_PATIENCE_MS) awaySince = Date.now();
      if (!isOutage(error) || Date.now() - awaySince > PATIENCE_MS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** True for what a server that is away or has just come back makes its clients throw. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  if (isGrpcServiceError(error)) return awayCodes.has(error.code);
  return error instanceof Error && isOutage(error.cause);
}

/** DEADLINE_EXCEEDED, INTERNAL (a connection that broke off) and UNAVAILABLE. */
const awayCodes: ReadonlySet<number> = new Set([4, 13, 14]);

import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { fault } from '../activities/failures.ts';

/** Invariant 6: what crosses a task queue is ids, scores and digests. */
export const PAYLOAD_LIMIT_BYTES = 2048;

/** Refuses an activity whose arguments or result are too large for a history, before anything else happens to them. */
export const payloadGuard: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      for (const argument of input.args) refuseLarge(`An argument of ${info.activityType}`, argument);
      const result = await next(input);
      refuseLarge(`The result of ${info.activityType}`, result);
      return result;
    },
  },
});

function refuseLarge(what: string, value: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes < PAYLOAD_LIMIT_BYTES) return;
  throw fault(
    'PayloadsTooLarge',
    `${what} has ${bytes} bytes, of ${PAYLOAD_LIMIT_BYTES} allowed`,
    'Put the content into a blob and pass its digest; where a configured size made it large, choose a smaller one',
  );
}

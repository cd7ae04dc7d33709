import { Context } from '@temporalio/activity';

/** Well inside the shortest heartbeat timeout, so that one late tick is no death. */
const HEARTBEAT_EVERY_MS = 2_000;

/**
 * Keeps the activity alive from before its first await until it ends, and hands it the signal that cancellation,
 * timeout and worker shutdown raise. Heartbeats come from a timer because a model call cannot send any.
 */
export async function withHeartbeat<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await act(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}

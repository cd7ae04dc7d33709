import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import { outages, pausingFaults } from './faults.ts';

/**
 * Runs one member of a group so that its failure stays its own: returns null when the activity is given up.
 * Cancellation is no failure and passes through, as does what stops the whole run.
 */
export async function orNull<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure) || pausingReason(error) !== null)
      throw error;
    return null;
  }
}

/**
 * All of them, or none: when one fails the others are cancelled and have ended before this throws, so that they can be
 * started again. Beside what a dead or suspended worker still does, the store lets one of them write.
 */
export function allOrNone<A, B>(
  acts: readonly [() => Promise<A>, () => Promise<B>],
): Promise<readonly [A, B]>;
export function allOrNone<T>(acts: readonly (() => Promise<T>)[]): Promise<readonly T[]>;
export function allOrNone(acts: readonly (() => Promise<unknown>)[]): Promise<readonly unknown[]> {
  const scope = new CancellationScope();
  return scope.run(async () => {
    const running = acts.map((act) => act());
    try {
      return await Promise.all(running);
    } catch (error) {
      scope.cancel();
      await Promise.allSettled(running);
      throw error;
    }
  });
}

/** What was cancelled may end in a failure of its own, on a worker that dies or drains; it is cancelled all the same. */
export function cancellationOr(error: unknown): unknown {
  const isDrownedOut =
    CancellationScope.current().consideredCancelled &&
    !isCancellation(error) &&
    !(error instanceof ContinueAsNew);
  return isDrownedOut ? new CancelledFailure('the run was cancelled') : error;
}

/** What a person has to know or do before work can go on; null for a failure that stops nothing but its own piece. */
export function pausingReason(error: unknown): string | null {
  const causes = causesOf(error);
  const types = causes.flatMap((cause) => (cause instanceof ApplicationFailure ? [cause.type] : []));
  if (types.some((type) => pausingFaults.some((fault) => fault === type))) return reasonOf(error);
  if (types.some((type) => outages.some((outage) => outage === type))) {
    return `${reasonOf(error)}. All retries are used up; resume the run when this is over`;
  }
  const unserved = causes.find((cause) => cause instanceof ActivityFailure);
  return unserved !== undefined && causes.some(isUnserved)
    ? `No worker finished ${unserved.activityType} in time. Start workers, then resume the run`
    : null;
}

/** Attempts that hang or die use up their number long before this: nobody was there. */
const isUnserved = (cause: Error): boolean =>
  cause instanceof TimeoutFailure &&
  (cause.timeoutType === 'SCHEDULE_TO_CLOSE' || cause.timeoutType === 'SCHEDULE_TO_START');

const LONGEST_REASON = 500;

/** The innermost cause is the one that names a remedy. */
export function reasonOf(error: unknown): string {
  return (causesOf(error).at(-1)?.message ?? String(error)).slice(0, LONGEST_REASON);
}

function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

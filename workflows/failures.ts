import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { pausingFaults } from './faults.ts';

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
 * All of them, or none: when one fails the others are cancelled, so that they can be started again. An activity that
 * is told to end may go on for seconds beside the one that is started in its place: the store lets one of them write.
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

/** What a person has to do before work can go on; null for a failure of any other kind. */
export function pausingReason(error: unknown): string | null {
  const isPausing = causesOf(error).some(
    (cause) => cause instanceof ApplicationFailure && pausingFaults.some((fault) => fault === cause.type),
  );
  return isPausing ? reasonOf(error) : null;
}

const LONGEST_REASON = 500;

/** The innermost cause is the one that names a remedy. */
export function reasonOf(error: unknown): string {
  return (causesOf(error).at(-1)?.message ?? String(error)).slice(0, LONGEST_REASON);
}

function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { cpu } from './activity-proxies.ts';
import { pausingFaults } from './faults.ts';

/**
 * Runs one member of a group so that its failure stays its own: returns null when the activity is given up.
 * Cancellation is no failure and passes through, as does what stops the whole run.
 */
export async function orNull<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure) || isPausing(error)) throw error;
    return null;
  }
}

/** All of them, or none: when one fails the others are cancelled and waited for, so that they can be started again. */
export function allOrNone<T>(acts: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
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

/** Notes in the store why a run stopped, and that it waits for a person where one can help. */
export async function notingFailure<T>(runId: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isCancellation(error)) {
      const state = isPausing(error) ? 'paused' : 'failed';
      await cpu.setRunState({ runId, state, reason: rootOf(error).slice(0, 500) });
    }
    throw error;
  }
}

function isPausing(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof ApplicationFailure && pausingFaults.some((fault) => fault === cause.type),
  );
}

/** The innermost cause is the one that names a remedy. */
function rootOf(error: unknown): string {
  return causesOf(error).at(-1)?.message ?? String(error);
}

function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

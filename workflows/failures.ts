import { ActivityFailure, isCancellation } from '@temporalio/workflow';

/**
 * Runs one member of a group so that its failure stays its own: returns null when the activity is given up.
 * Cancellation is no failure and passes through.
 */
export async function orNull<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}

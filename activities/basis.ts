import { fault } from './failures.ts';

/** Errors of the store by which a file is not what it was, or not there. */
const losses: ReadonlySet<string> = new Set(['BlobMissing', 'BlobAltered', 'StoredDataInvalid']);

/**
 * Reads what every piece of a run works with: its adapter, its bank. Lost, it would make one rollout after another
 * unscored and one comparison after another a vote for nobody, for good; so the run pauses (fault `BasisLost`).
 */
export async function readBasis<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Error) || !losses.has(error.name)) throw error;
    throw fault(
      'BasisLost',
      error.message,
      'Nothing of the run goes on without it; resume the run afterwards',
    );
  }
}

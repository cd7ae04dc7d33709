import type { ModelCallKey } from '../../bank-store/contract.ts';

/** The one call that the victim dies in and its heir repeats. */
export const victimCall: ModelCallKey = { runId: 'run-1', purpose: 'judge', owner: 'group', ordinal: 0 };
export const victimRequest = { traces: ['a', 'b'] };

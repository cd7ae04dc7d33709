/**
 * Failures that need a person: retrying them repeats the damage. One list for whoever throws them and for every
 * retry policy, so that third-party code which throws these types is covered too.
 */
export const faults = [
  'SpecInvalid',
  'Tampered',
  'BatchConflict',
  'StoreConflict',
  'BudgetExceeded',
  'ModelUnusable',
  'BasisLost',
  'ProviderRefused',
  'NotFound',
  'PayloadsTooLarge',
] as const;

export type Fault = (typeof faults)[number];

/**
 * Faults that every later call of the run would meet again: the run pauses, instead of turning one training step
 * after another into a failed one.
 */
export const pausingFaults: readonly Fault[] = [
  'BudgetExceeded',
  'ModelUnusable',
  'BasisLost',
  'PayloadsTooLarge',
];

/** Weather that hits whatever is tried next as well: when it lasts longer than all retries, the run pauses, too. */
export const outages = ['ProviderUnavailable', 'RateLimited', 'StoreUnavailable'] as const;

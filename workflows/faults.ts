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
  'ProviderRefused',
  'NotFound',
  'Fenced',
  'PayloadsTooLarge',
] as const;

export type Fault = (typeof faults)[number];

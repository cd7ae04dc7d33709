/**
 * Tasks whose result says little, with the reason: measured by `clift benchmark doctor wai`, which reports every
 * difference from these lists. They stay in every task list; reports show rates with and without them.
 */
import type { Caveat } from '../contract.ts';

const VACUOUS: Caveat = {
  kind: 'vacuous',
  reason: 'The outcome verifier already passes on the untouched app.',
};

const DEAD_DROPDOWNS: Caveat = {
  kind: 'impossible',
  reason:
    "The app's click handler finds the wrapper of a custom dropdown before the option, so no option can be chosen.",
};

const vacuous = [
  ...of('handshake-career-exploration', 'real-e15 real-m4 real-h17'),
  ...of('superhuman-general', 'real-e3 real-e8 real-m9 real-m13 real-m14 real-h46'),
  ...of('xero-invoicing', 'real-m20'),
  ...of('elation-patient-communication', 'real-h4'),
  ...of('figma-slides', 'real-e19'),
  ...of('elation-clinical-records', 'function-20'),
  ...of('paypal-my-wallet', 'function-45'),
];

const impossible = [
  ...of('gmail-accounts-and-contacts', 'real-e9 real-e15 real-e16 real-m11 real-m13 real-m20'),
  ...of('gmail-accounts-and-contacts', 'real-h6 real-h11 real-h34 real-h52 real-h58 real-h60'),
  ...of('gmail-accounts-and-contacts', 'function-38 function-39 function-49 function-50 function-51'),
  ...of('gmail-accounts-and-contacts', 'function-52 function-53 function-54 function-68'),
];

const unsolved: readonly (readonly [string, Caveat])[] = [
  [
    'wai/xero-invoicing/function-26',
    {
      kind: 'unsolved',
      reason: 'The outcome verifier takes the invoice for one of 3,715.00; in the app it is one of 2,996.00.',
    },
  ],
];

/** By task id. */
export const caveats: Readonly<Record<string, readonly Caveat[]>> = Object.fromEntries([
  ...vacuous.map((id) => [id, [VACUOUS]] as const),
  ...impossible.map((id) => [id, [DEAD_DROPDOWNS]] as const),
  ...unsolved.map(([id, caveat]) => [id, [caveat]] as const),
]);

function of(app: string, names: string): string[] {
  return names.split(' ').map((name) => `wai/${app}/${name}`);
}

/**
 * The edition of WebArena-Infinity that the adapter knows: github.com/web-arena-x/webarena-infinity at one commit.
 * Nothing of it lies here; a checkout that holds anything else is refused.
 */

/** One app: its tasks by difficulty, those of the function suite, which have none, and the digest of its files. */
export interface AppEdition {
  readonly easy: number;
  readonly medium: number;
  readonly hard: number;
  readonly function: number;
  /** Of everything that the adapter reads of the app. */
  readonly digest: string;
}

export interface Edition {
  readonly commit: string;
  readonly apps: Readonly<Record<string, AppEdition>>;
  /** Named sets of apps; a real task of one of them carries the set's name as a suite. */
  readonly appSets: Readonly<Record<string, readonly string[]>>;
}

/** Every app has 20 easy and 20 medium tasks. */
const app = (hard: number, functions: number, digest: string): AppEdition => ({
  ...{ easy: 20, medium: 20, hard, digest },
  function: functions,
});

const apps: Edition['apps'] = {
  'elation-clinical-records': app(80, 55, '5dbadb6ae6ede5d8'),
  'elation-patient-communication': app(80, 58, 'd0f89f7d51a9fb63'),
  'elation-prescriptions': app(80, 56, '961a7876324fb425'),
  'figma-slides': app(80, 61, '0fee481cd333c8d6'),
  'figma-text-and-typography': app(80, 65, '82d95d4dc5d87fa9'),
  'gitlab-plan-and-track': app(100, 55, '08f823d9e591d52e'),
  gmail: app(20, 30, '6f07af515b320459'),
  'gmail-accounts-and-contacts': app(80, 68, '47ebde891ed4ef75'),
  'handshake-career-exploration': app(160, 55, '118d573527006f5f'),
  'linear-account-settings': app(80, 60, '8a5fe6e3bda1ed49'),
  'paypal-my-wallet': app(100, 56, '86ad253ca5a9e51d'),
  'superhuman-general': app(80, 60, 'fdf8ee96e1977db5'),
  'xero-invoicing': app(80, 58, 'b2b3f77620fb7289'),
};

/** Dropped by the benchmark's authors, because too much of them does not work. */
const DROPPED = ['elation-patient-communication', 'figma-slides', 'figma-text-and-typography'];

const official = Object.keys(apps).filter((name) => !DROPPED.includes(name));

export const edition: Edition = {
  commit: '1ca77813bf8d8e4011aa3fb1f740f70d78bd522d',
  apps,
  appSets: {
    /** The ten apps of the benchmark's announcement: 1,260 real tasks. */
    official,
    /** The nine of arXiv 2610.06829, which does not list them: the ten without gmail have its 1,200 real tasks. */
    nine: official.filter((name) => name !== 'gmail'),
  },
};

/**
 * Five of the apps again, made without the original's manual: their authors' ablation. Not part of the benchmark; the
 * bench of the grader runs their verifiers too.
 */
export const ablations: Edition = {
  commit: edition.commit,
  apps: {
    'ablations/elation-prescriptions-nodocs': app(80, 85, '5a4a1193de466290'),
    'ablations/figma-slides-nodocs': app(80, 55, 'b46bcb21200c881b'),
    'ablations/gitlab-plan-and-track-nodocs': app(80, 93, '153cb870e69e224a'),
    'ablations/gmail-accounts-and-contacts-nodocs': app(40, 80, '04bd5612fc54f929'),
    'ablations/xero-invoicing-nodocs': app(80, 80, 'c1ecce5885671658'),
  },
  appSets: {},
};

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { AttemptEnding, NewRollout, NewRun, StepRecord } from '../../bank-store/contract.ts';
import { type BankStoreSettings, createBankStore } from '../../bank-store/index.ts';
import type { Task } from '../../benchmarks/contract.ts';
import type { Certificate, Question, Tracker } from '../../workflows/method/types.ts';
import { createTestDatabase } from '../support/database.ts';

export type Store = Awaited<ReturnType<typeof createBankStore>>;

/** A digest that looks like one; nothing lies under it. */
export const digestOfNothing = (digit: string) => digit.repeat(64);

export interface StorePlace {
  readonly databaseUrl: string;
  readonly blobDirectory: string;
  /** Another process, as far as the database can tell. */
  openStore(settings?: Partial<BankStoreSettings>): Promise<Store>;
}

/** A database and a blob directory for one test file, removed with all stores opened on them. */
export async function createStorePlace(): Promise<StorePlace> {
  const blobDirectory = await mkdtemp(join(tmpdir(), 'clift-blobs-'));
  const database = await createTestDatabase(async (databaseUrl) => {
    await (await createBankStore({ databaseUrl, blobDirectory })).close();
  });
  const opened: Store[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await database.drop();
    await rm(blobDirectory, { recursive: true });
  });
  const { databaseUrl } = database;
  return {
    databaseUrl,
    blobDirectory,
    openStore: async (settings) => {
      const store = await createBankStore({ databaseUrl, blobDirectory, ...settings });
      opened.push(store);
      return store;
    },
  };
}

export const task: Task = {
  id: 'sandbox/mail/archive',
  benchmark: 'sandbox',
  app: 'mail',
  instruction: 'Archive the letter from Ada.',
  startUrl: 'http://mail.sandbox/inbox',
  allowedHosts: ['mail.sandbox'],
  difficulty: 'easy',
  split: 'train',
  provenance: { source: 'template', ref: 'archive' },
  viewport: { widthPx: 1280, heightPx: 800 },
  maxSteps: 12,
  expectsAnswer: false,
  imageDigests: [],
};

export const run: NewRun = {
  id: 'run-1',
  kind: 'train',
  seed: 1,
  identity: { 'judge.model': 'rubric', 'policy.adapter': null, groupSize: 8, headless: true },
  config: { kind: 'train', steps: 3 },
  codeVersion: 'v1',
};

export const rollout = (id: string, change: Partial<NewRollout> = {}): NewRollout => ({
  id,
  runId: run.id,
  ownerId: `owner of ${id}`,
  index: 0,
  taskId: task.id,
  temperature: 1,
  adapterDigest: null,
  maxSteps: 12,
  seed: [1, 0, 0, task.id, 0],
  ...change,
});

export const stepAt = (index: number, change: Partial<StepRecord> = {}): StepRecord => ({
  index,
  urlBefore: `http://mail.sandbox/inbox/${index}`,
  urlAfter: `http://mail.sandbox/inbox/${index + 1}`,
  action: { tool: 'click', ref: `e${index}`, kind: 'single' },
  target: { role: 'button', name: 'Archive', context: 'Letter from Ada' },
  result: { ok: true, note: null },
  observationDigest: digestOfNothing('a'),
  screenshotDigest: digestOfNothing('b'),
  stateDigest: `state ${index}`,
  promptDigest: digestOfNothing('c'),
  tokenIds: [index, 7],
  logProbs: [-0.1, -1e-17],
  toolCallSpan: [0, 2],
  decideMs: 1.5,
  actMs: 2,
  settleMs: 3,
  observeMs: 4,
  ...change,
});

export const ending: AttemptEnding = {
  outcome: { kind: 'success' },
  stopReason: 'answered',
  answer: 'done',
  finalUrl: 'http://mail.sandbox/archive',
  finalObservationDigest: digestOfNothing('d'),
  evidenceDigest: digestOfNothing('e'),
  verdictMessage: 'archived',
  flags: [{ rule: 'host', detail: 'asked for evil.example', invalidates: false }],
};

export const question = (id: string, change: Partial<Question> = {}): Question => ({
  id,
  version: 1,
  text: `Is ${id} so?`,
  scope: '*',
  polarity: 1,
  status: 'candidate',
  provenance: { source: 'seed' },
  ...change,
});

export const tracker = (qid: string, n: number, change: Partial<Tracker> = {}): Tracker => ({
  schema: 1,
  qid,
  version: 1,
  tier: 'global',
  key: '*',
  polarity: 1,
  n,
  n1: n,
  n0: 0,
  S1: n / 3,
  S0: 0,
  groups: n,
  informative: 0,
  sumC: 0.1,
  sumV: 0.2,
  logWp: [0.1 + 0.2, 1e-300, -2],
  logWm: [0, 0, 0],
  hist: Array.from({ length: 41 }, (_, bin) => bin % 3),
  ewN1: 1,
  ewN0: 0,
  ewS1: 1 / 3,
  ewS0: 0,
  ewX: 0,
  ewQ: 0,
  alpha: 0.1,
  aciT: 0,
  aciErr: 0,
  agreeErr: 0,
  ...change,
});

export const certificate = (qid: string, n: number): Certificate => ({
  schema: 1,
  liftKind: 'trained',
  qid,
  version: 1,
  tier: 'global',
  key: '*',
  weight: 0,
  lift: null,
  n,
  vetoed: false,
  reasons: ['n', 'lift'],
  logE: 0.5,
  logEminus: -0.5,
  z: 0,
  alpha: 0.1,
});

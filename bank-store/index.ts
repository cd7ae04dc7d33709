/** The door of the room: the store, its types and its errors. */
import { adapterStore } from './adapters.ts';
import { answerStore } from './answers.ts';
import { attemptStore } from './attempts.ts';
import { bankDocuments } from './banks.ts';
import { createDirectoryBlobStore } from './blobs.ts';
import { certificationStore } from './certification.ts';
import type { BankStore } from './contract.ts';
import { type DatabaseSettings, openDatabase } from './database.ts';
import { gradeStore } from './grades.ts';
import { groupStore } from './groups.ts';
import { historyStore } from './histories.ts';
import { type JournalSettings, journal } from './journal.ts';
import { judgementStore } from './judgements.ts';
import { migrate } from './migrate.ts';
import { type AccountSettings, accountStore } from './provider-gate.ts';
import { rolloutStore } from './rollouts.ts';
import { runStore } from './runs.ts';
import { selectionStore } from './selections.ts';
import { taskStore } from './tasks.ts';
import { trainingStepStore } from './training-steps.ts';

export type * from './contract.ts';
export * from './errors.ts';

export interface BankStoreSettings extends DatabaseSettings, JournalSettings, AccountSettings {
  readonly blobDirectory: string;
}

/** Opens the store and brings its database to this code's state. Throws `StoreUnavailable` or `MigrationError`. */
export async function createBankStore(
  settings: BankStoreSettings,
): Promise<BankStore & { close(): Promise<void> }> {
  await migrateDatabase(settings);
  const database = openDatabase(settings);
  const blobs = createDirectoryBlobStore(settings.blobDirectory);
  return {
    blobs,
    ...runStore(database),
    ...taskStore(database),
    ...groupStore(database),
    ...rolloutStore(database),
    ...attemptStore(database, blobs),
    ...gradeStore(database),
    ...journal(database, blobs, settings),
    ...accountStore(database, settings),
    ...judgementStore(database),
    ...answerStore(database),
    ...certificationStore(database),
    ...bankDocuments(database, blobs),
    ...adapterStore(database, blobs),
    ...trainingStepStore(database),
    ...selectionStore(database),
    ...historyStore(database),
    close: () => database.close(),
  };
}

/** Rewriting a large table may take longer than any ordinary statement should. */
const MIGRATION_LIMIT_MS = 24 * 3_600_000;

async function migrateDatabase(settings: DatabaseSettings): Promise<void> {
  const database = openDatabase({ ...settings, poolSize: 1, statementTimeoutMs: MIGRATION_LIMIT_MS });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

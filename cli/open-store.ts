import { type BankStore, createBankStore } from '../bank-store/index.ts';
import { startDatabase } from '../infra/stack.ts';
import type { Settings } from '../workers/settings.ts';

/** The store for a command that only reads; a database that has to be started for it ends with it. */
export async function withStore<T>(settings: Settings, act: (store: BankStore) => Promise<T>): Promise<T> {
  const database = await startDatabase(settings);
  try {
    const store = await createBankStore(database);
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  } finally {
    await database.stop();
  }
}

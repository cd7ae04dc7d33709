import { join } from 'node:path';
import { loadSettings, type Settings } from '../../workers/settings.ts';

/**
 * This machine's settings for another home. Names no cluster or database of the user's environment, which
 * tests must not touch; shares the project's downloads.
 */
export function settingsForHome(home: string): Settings {
  const { temporalConnection: _cluster, databaseUrl: _database, ...settings } = loadSettings();
  return { ...settings, home, blobDirectory: join(home, 'blobs'), temporalNamespace: 'clift' };
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../workers/settings.ts';

/** Where the embedded stack keeps things below one CLIFT_HOME. */
export interface HomePaths {
  readonly lock: string;
  readonly logs: string;
  readonly temporal: string;
  readonly temporalRecord: string;
  readonly postgres: string;
  readonly postgresRecord: string;
}

export function homePaths(home: string): HomePaths {
  return {
    lock: join(home, 'run', 'lock'),
    logs: join(home, 'logs'),
    temporal: join(home, 'temporal'),
    temporalRecord: join(home, 'run', 'temporal.json'),
    postgres: join(home, 'postgres'),
    postgresRecord: join(home, 'run', 'postgres.json'),
  };
}

export function createHome({ home, cacheDirectory, blobDirectory }: Settings): HomePaths {
  const paths = homePaths(home);
  for (const directory of [
    cacheDirectory,
    blobDirectory,
    paths.logs,
    paths.temporal,
    paths.postgres,
    join(home, 'run'),
  ]) {
    mkdirSync(directory, { recursive: true });
  }
  return paths;
}

import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
    makeWritable(directory);
  }
  return paths;
}

/** Throws an error that says what to do. */
function makeWritable(directory: string): void {
  try {
    make(directory);
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${directory} cannot be created or written to (${reason}).\nSet CLIFT_HOME to a directory you may write to.`,
    );
  }
}

/** Step by step: where a file system refuses new directories as absent, Node's own recursion never ends. */
function make(directory: string): void {
  if (existsSync(directory)) return;
  make(dirname(directory));
  try {
    mkdirSync(directory, { recursive: false });
  } catch (error) {
    // Another process made it since we looked.
    if (!existsSync(directory)) throw error;
  }
}

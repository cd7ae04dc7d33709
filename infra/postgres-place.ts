import { createHash } from 'node:crypto';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type OsUser, runCommand } from './commands.ts';
import { findPostgresPrograms, type PostgresPrograms } from './postgres-programs.ts';

/** Which programs serve which directory, and as whom. */
export interface PostgresPlace {
  readonly programs: string;
  readonly directory: string;
  /** Absent: as ourselves. */
  readonly user?: OsUser;
}

const SYSTEM_DIRECTORY = '/var/lib/clift';

/**
 * Everything lies in `homeDirectory`, with one exception: PostgreSQL refuses to run as root, so for root
 * it runs as another user, and where that user cannot reach our files (a checkout below /root) the
 * programs and the data lie in /var/lib/clift.
 */
export async function preparePostgresPlace(homeDirectory: string): Promise<PostgresPlace> {
  const programs = findPostgresPrograms();
  if (process.getuid?.() !== 0) return { programs: programs.root, directory: homeDirectory };
  const user = await findDatabaseUser();
  const directory = isReachableByAll(dirname(homeDirectory))
    ? homeDirectory
    : join(SYSTEM_DIRECTORY, createHash('sha256').update(homeDirectory).digest('hex').slice(0, 16));
  mkdirSync(directory, { recursive: true });
  chownSync(directory, user.uid, user.gid);
  chmodSync(directory, 0o700);
  return { programs: reachablePrograms(programs), directory, user };
}

async function findDatabaseUser(): Promise<OsUser> {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => runCommand('id', [flag, name], 5000)));
    if (uid?.ok && gid?.ok) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`. Run clift as an ordinary user, or set DATABASE_URL.',
  );
}

function reachablePrograms({ root, version }: PostgresPrograms): string {
  if (isReachableByAll(root)) return root;
  const copy = join(SYSTEM_DIRECTORY, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  cpSync(root, unfinished, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    // Another home's start was first; its copy is as good as ours.
    rmSync(unfinished, { recursive: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

const OTHERS_MAY_ENTER = 0o001;

function isReachableByAll(directory: string): boolean {
  const entered = (statSync(directory).mode & OTHERS_MAY_ENTER) !== 0;
  return entered && (directory === dirname(directory) || isReachableByAll(dirname(directory)));
}

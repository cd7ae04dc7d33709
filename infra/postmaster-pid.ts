import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, identifyProcess, type ServerRecord } from './processes.ts';

/** Above every system's largest pid. */
const NOBODYS_PID = 2 ** 31 - 2;

/** The living server of a data directory, from PostgreSQL's own lock file. */
export function findOrphanedPostmaster(dataDirectory: string): ServerRecord | undefined {
  const { pid, port } = readPostmasterPid(dataDirectory);
  if (!isPostmasterOf(dataDirectory, pid)) return undefined;
  const identity = identifyProcess(pid);
  return identity && { ...identity, port };
}

/**
 * PostgreSQL refuses to start when the pid in a stale lock file now belongs to a stranger of the same
 * user. Putting in a pid that cannot exist lets it go on to its second check, which finds any backend
 * still attached to the shared memory; deleting the file would switch that check off.
 */
export function forgiveRecycledPid(dataDirectory: string): void {
  const { pid, lines } = readPostmasterPid(dataDirectory);
  if (Number.isNaN(pid) || isPostmasterOf(dataDirectory, pid)) return;
  writeFileSync(join(dataDirectory, 'postmaster.pid'), [NOBODYS_PID, ...lines.slice(1)].join('\n'));
}

/** Line 1 is the pid, line 4 the port; NaN where the file is missing or cut short. */
function readPostmasterPid(dataDirectory: string): { pid: number; port: number; lines: string[] } {
  try {
    const lines = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number.parseInt(lines[0] ?? '', 10), port: Number.parseInt(lines[3] ?? '', 10), lines };
  } catch {
    return { pid: Number.NaN, port: Number.NaN, lines: [] };
  }
}

function isPostmasterOf(dataDirectory: string, pid: number): boolean {
  return !Number.isNaN(pid) && commandLine(pid).includes(`-D ${dataDirectory} `);
}

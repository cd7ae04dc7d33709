import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { OsUser } from './commands.ts';

/** A process of ours. The start time tells it from a stranger that was given the same pid later. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** What is kept on disk about a server of the embedded stack: its process and the port it listens on. */
export interface ServerRecord extends ProcessIdentity {
  readonly port: number;
}

const recordSchema = z.object({
  pid: z.int().positive(),
  startedAt: z.string().min(1),
  port: z.int().positive(),
});

/** The record at `path`; undefined when there is none or a crash left it unreadable. */
export function readServerRecord(path: string): ServerRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

export function writeServerRecord(path: string, record: ServerRecord): void {
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
}

/** Identity of a running process; undefined when there is none with this pid (a zombie counts as none). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? linuxStartTime(pid) : psStartTime(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startedAt === startedAt;
}

/** Field 22 of /proc/<pid>/stat, in clock ticks since boot; the name in field 2 may hold spaces and brackets. */
function linuxStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function psStartTime(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.slice(line.indexOf(' ')).trim();
  } catch {
    return undefined;
  }
}

/** The arguments of a running process, as one line; empty when there is no such process. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

export interface DetachedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly logPath: string;
  readonly user?: OsUser;
}

/**
 * Starts a server in a process group of its own, so that it outlives us and a Ctrl-C in our terminal
 * does not reach it. Its output goes to the log file, which starts anew once it is over 10 MB.
 */
export async function startDetached(server: DetachedCommand): Promise<ProcessIdentity> {
  const { command, args, logPath, user } = server;
  const log = openLog(logPath);
  try {
    const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], ...user });
    await once(child, 'spawn');
    child.unref();
    const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
    if (!identity) throw new Error(`${command} ended at once.${tailOfLog(logPath)}`);
    return identity;
  } finally {
    closeSync(log);
  }
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.old`);
  return openSync(path, 'a');
}

/** The last lines of a log, ready to follow a sentence in an error message. */
export function tailOfLog(path: string): string {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(-8);
    return `\nLast lines of ${path}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
  } catch {
    return '';
  }
}

const POLL_MS = 25;

/** Ends one process of ours: `signal` first, SIGKILL to its group after `graceMs`. Never touches a stranger. */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  if (!isAlive(identity)) return;
  sendSignal(identity.pid, signal);
  if (await waitUntil(() => !isAlive(identity), graceMs)) return;
  sendSignal(-identity.pid, 'SIGKILL');
  await waitUntil(() => !isAlive(identity), 5000);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!gone) throw error;
  }
}

/** Polls `condition` until it holds; false when `limitMs` passed first. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

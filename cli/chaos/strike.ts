/** One blow: who is struck, what it was working on, and how to tell that work goes on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { homePaths } from '../../infra/home.ts';
import { commandLine, identifyProcess, isAlive, readServerRecord, waitUntil } from '../../infra/processes.ts';
import { killAppServers } from './app-servers.ts';
import { type Cell, CUT_MS, roleOf, STOP_MS, type Victim } from './cells.ts';
import type { Job } from './job.ts';
import type { Link } from './link.ts';
import { type ActivityInFlight, lastDecision, type Scene } from './scene.ts';

/** Where a job and its servers can be reached. */
export interface Battlefield {
  readonly home: string;
  readonly client: Client;
  readonly job: Job;
  /** Null: the job reaches its servers directly. */
  readonly links: { readonly temporal: Link; readonly postgres: Link } | null;
}

/** A victim that can be struck now, with what it works on. */
export interface Target {
  readonly cell: Cell;
  /** Null for a link. */
  readonly pid: number | null;
  /** Worker that does the work at the point. */
  readonly worker: number;
  readonly working: readonly ActivityInFlight[];
  /** Orchestrator that decided last at the point. */
  readonly decider: number | null;
}

/** The cell's victim, if it is there and works at the cell's point. */
export async function findTarget(field: Battlefield, cell: Cell, scene: Scene): Promise<Target | null> {
  const [atPoint] = scene.activities.filter(({ point, pid }) => point === cell.point && pid !== null);
  const worker = atPoint?.pid ?? null;
  if (atPoint === undefined || worker === null) return null;
  const role = roleOf[cell.victim];
  const working = scene.activities.filter(({ pid }) => pid !== null && (role === null || pid === worker));
  const decider = (await lastDecision(field.client, atPoint.workflowId))?.pid ?? null;
  const pid = pidOf(field, cell.victim, worker, decider);
  if (pid === undefined) return null;
  return { cell, pid, worker, working, decider };
}

/** Undefined: it is not there. Null: it has no process. */
function pidOf(
  { home, job }: Battlefield,
  victim: Victim,
  worker: number,
  decider: number | null,
): number | null | undefined {
  const { temporalRecord, postgresRecord } = homePaths(home);
  switch (victim) {
    case 'Chromium':
      return browserOf(home, worker);
    case 'orchestrator':
      return workerOrNobody(decider);
    case 'command':
      return job.pid ?? undefined;
    case 'Temporal':
      return serverOf(temporalRecord);
    case 'PostgreSQL':
      return serverOf(postgresRecord);
    case 'link to Temporal':
    case 'link to PostgreSQL':
      return null;
    case 'app server':
    case 'browser worker':
    case 'llm worker':
    case 'judge worker':
    case 'cpu worker':
    case 'gpu worker':
      return workerOrNobody(worker);
  }
}

/** Nobody but a worker process of ours may be struck in its place: pids are given out again. */
const workerOrNobody = (pid: number | null) =>
  pid !== null && commandLine(pid).includes('workers/worker.ts') ? pid : undefined;

function serverOf(recordPath: string): number | undefined {
  const record = readServerRecord(recordPath);
  return record !== undefined && isAlive(record) ? record.pid : undefined;
}

const leaseSchema = z.object({ browser: z.object({ pid: z.int() }), worker: z.object({ pid: z.int() }) });

function browserOf(home: string, worker: number): number | undefined {
  const directory = join(home, 'browsers');
  const leases = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => leaseSchema.parse(JSON.parse(readFileSync(join(directory, name), 'utf8'))));
  const browser = leases.find((lease) => lease.worker.pid === worker)?.browser.pid;
  return browser !== undefined && identifyProcess(browser) ? browser : undefined;
}

/**
 * Strikes; returns when the blow has landed, or false when the victim was gone before. Whoever is only stopped or cut
 * off comes back by itself later.
 */
export async function land(field: Battlefield, { cell, pid }: Target): Promise<boolean> {
  if (cell.manner === 'cut') return cut(field, cell.victim);
  if (cell.victim === 'command') return field.job.kill();
  if (pid === null) throw new Error(`${cell.victim} has no process`);
  if (cell.victim === 'app server') {
    const log = join(field.home, 'logs', 'worker-browser.log');
    return (await killAppServers(pid, () => readFileSync(log, 'utf8'))) > 0;
  }
  if (cell.manner === 'stop') {
    process.kill(pid, 'SIGSTOP');
    setTimeout(() => wake(pid), STOP_MS);
    return true;
  }
  process.kill(pid, 'SIGKILL');
  if (!(await waitUntil(() => identifyProcess(pid) === undefined, 5_000))) {
    throw new Error(`${cell.victim} (${pid}) survived SIGKILL`);
  }
  return true;
}

function wake(pid: number): void {
  if (identifyProcess(pid)) process.kill(pid, 'SIGCONT');
}

function cut({ links }: Battlefield, victim: Victim): boolean {
  const link = victim === 'link to Temporal' ? links?.temporal : links?.postgres;
  if (link === undefined) throw new Error(`the job does not use the ${victim}`);
  if (link.open === 0) return false;
  link.cut();
  setTimeout(() => link.mend(), CUT_MS);
  return true;
}

/** Whether work goes on after the blow, as far as the scene tells. */
export async function goesOn(
  { client }: Battlefield,
  { cell, working, decider }: Target,
  before: Scene,
  now: Scene,
  recorded: { readonly before: number; readonly now: number },
): Promise<boolean> {
  switch (cell.victim) {
    case 'PostgreSQL':
    case 'link to PostgreSQL':
      return recorded.now > recorded.before;
    case 'orchestrator':
    case 'command':
      return decidedSince(client, before, now, decider);
    case 'Temporal':
    case 'link to Temporal':
      return isHeardOfSince(before, now) || decidedSince(client, before, now, null);
    default:
      return working.every((activity) => isTakenUp(activity, now));
  }
}

/** Started again, or over. */
function isTakenUp({ key, attempt }: ActivityInFlight, now: Scene): boolean {
  const later = now.activities.find((activity) => activity.key === key);
  return later === undefined || (later.attempt > attempt && later.pid !== null);
}

function isHeardOfSince(before: Scene, now: Scene): boolean {
  return now.activities.some(({ lifeSignMs }) => lifeSignMs > before.atMs);
}

/** A workflow task was completed by another process than the one that decided before; null: by whomever. */
async function decidedSince(
  client: Client,
  before: Scene,
  now: Scene,
  decider: number | null,
): Promise<boolean> {
  for (const [id, length] of now.workflows) {
    if (length <= (before.workflows.get(id) ?? 0)) continue;
    const last = await lastDecision(client, id);
    if (last !== null && last.pid !== decider && last.atMs > before.atMs) return true;
  }
  return false;
}

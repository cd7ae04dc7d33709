/** One job, struck again and again until it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../outages.ts';
import { type Cell, nameOf } from './cells.ts';
import type { Hold, Ledger } from './ledger.ts';
import { type Phase, type Point, payingActivities } from './points.ts';
import { observe, type Scene } from './scene.ts';
import { type Battlefield, findTarget, goesOn, land, type Target } from './strike.ts';

export interface Strike {
  readonly victim: string;
  readonly phase: Phase;
  readonly activity: string;
  readonly pid: number | null;
  /** Activities that it was working on. */
  readonly working: readonly string[];
  /** What shows that work had begun. */
  readonly begun: string;
  /** Paid calls that may be lost by it. */
  readonly callsInFlight: number;
  /** Until work went on; null: not within the limit. */
  readonly recoveryMs: number | null;
  /** Rollouts that had finished before, by id, with their trajectories. */
  readonly finished: ReadonlyMap<string, string>;
}

const LOOK_EVERY_MS = 150;
const LET_GO_MS = 500;
const RECOVERY_LIMIT_MS = 90_000;

export interface StormPlan {
  readonly cells: readonly Cell[];
  /** Once each of them was struck: all that may be struck, in an order that is drawn anew for every strike. */
  readonly atRandom: () => readonly Cell[];
  readonly most: number;
  readonly say: (line: string) => void;
}

/** Strikes cell after cell, each when its victim works at its point, one at a time. */
export async function storm(field: Battlefield, ledger: Ledger, plan: StormPlan): Promise<readonly Strike[]> {
  const left = [...plan.cells];
  const strikes: Strike[] = [];
  const holds = new Map<Point, Hold>();
  let more = plan.atRandom();
  try {
    while (!field.job.isOver && strikes.length < plan.most) {
      const wanted = left.length > 0 ? left : more;
      const struck = await throughWeather(async () => {
        await arm(ledger, holds, wanted);
        return strikeOne(field, ledger, holds, wanted);
      });
      if (struck === null) {
        await sleep(LOOK_EVERY_MS);
        continue;
      }
      strikes.push(struck.strike);
      plan.say(describe(strikes.length, struck.strike));
      if (left.length > 0) left.splice(left.indexOf(struck.cell), 1);
      else more = plan.atRandom();
    }
    return strikes;
  } finally {
    for (const hold of holds.values()) await hold.release();
  }
}

/** Null while a server is away: there is nothing to see. */
async function throughWeather<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    if (!isOutage(error)) throw error;
    return null;
  }
}

/** Holds every point at which somebody is still to be struck, and no other. */
async function arm(ledger: Ledger, holds: Map<Point, Hold>, wanted: readonly Cell[]): Promise<void> {
  const points = new Set(wanted.map(({ point }) => point).filter(({ inserts }) => inserts !== null));
  const held = await ledger.heldPoints();
  for (const [point, hold] of holds) {
    if (points.has(point) && held.has(point)) continue;
    holds.delete(point);
    await hold.release();
  }
  for (const point of points) if (!holds.has(point)) holds.set(point, await ledger.hold(point));
}

async function strikeOne(
  field: Battlefield,
  ledger: Ledger,
  holds: Map<Point, Hold>,
  wanted: readonly Cell[],
): Promise<{ readonly cell: Cell; readonly strike: Strike } | null> {
  const scene = await observe(field.client);
  for (const cell of wanted) {
    const target = await findTarget(field, cell, scene);
    const begun = target === null ? null : await beginningOf(ledger, target);
    if (target === null || begun === null) continue;
    const strike = await carryOut(field, ledger, holds, { target, begun, scene });
    if (strike !== null) return { cell, strike };
  }
  return null;
}

/** What shows that the work at the point has begun; null: nothing yet. */
async function beginningOf(ledger: Ledger, { cell, worker }: Target): Promise<string | null> {
  if (cell.point.inserts === null) {
    const steps = await ledger.openSteps(worker);
    return steps === 0 ? null : `${steps} browser steps recorded`;
  }
  const held = await ledger.heldAt(cell.point);
  return held === 0 ? null : `about to write to ${cell.point.inserts.table}`;
}

async function carryOut(
  field: Battlefield,
  ledger: Ledger,
  holds: Map<Point, Hold>,
  { target, begun, scene }: { readonly target: Target; readonly begun: string; readonly scene: Scene },
): Promise<Strike | null> {
  const { cell, working, pid } = target;
  const finished = await ledger.finishedRollouts();
  const recorded = await ledger.recorded();
  const calls = new Set(await ledger.callsInFlight());
  const before = { ...scene, atMs: Date.now() };
  if (!(await land(field, target))) return null;
  // One that began between the look and the blow is in flight too.
  for (const call of (await throughWeather(() => ledger.callsInFlight())) ?? []) calls.add(call);
  await holds.get(cell.point)?.release();
  holds.delete(cell.point);
  // What was held and let go is no sign that work goes on; behind a cut link it is still written.
  if (cell.manner === 'cut') await sleep(LET_GO_MS);
  const letGo = (await throughWeather(() => ledger.recorded())) ?? recorded;
  const paying = working.filter(({ type }) => payingActivities.has(type)).length;
  return {
    victim: nameOf(cell),
    phase: cell.point.phase,
    activity: cell.point.activity,
    pid,
    working: working.map(({ key, attempt }) => `${key} (attempt ${attempt})`),
    begun,
    // Of the database that forgot them there is no list; no activity has more than one.
    callsInFlight: Math.max(calls.size, paying),
    recoveryMs: await recovery(field, ledger, target, before, letGo),
    finished,
  };
}

async function recovery(
  field: Battlefield,
  ledger: Ledger,
  target: Target,
  before: Scene,
  recordedBefore: number,
): Promise<number | null> {
  while (Date.now() - before.atMs < RECOVERY_LIMIT_MS) {
    const isBack = await throughWeather(async () => {
      const recorded = { before: recordedBefore, now: await ledger.recorded() };
      return goesOn(field, target, before, await observe(field.client), recorded);
    });
    if (isBack === true || field.job.isOver) return Date.now() - before.atMs;
    await sleep(LOOK_EVERY_MS);
  }
  return null;
}

function describe(number: number, { victim, phase, activity, working, begun, recoveryMs }: Strike): string {
  const back = recoveryMs === null ? 'NOT back in time' : `back after ${(recoveryMs / 1000).toFixed(1)} s`;
  return `${number}. ${victim} during ${phase} (${activity}, ${working.length} in flight, ${begun}): ${back}`;
}

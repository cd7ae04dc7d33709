/** What is struck, how and where: the cells of the chaos table. */

import { randomGenerator } from '../../workflows/method/random.ts';
import type { TaskQueue } from '../../workflows/names.ts';
import { type Point, points } from './points.ts';

export const victims = [
  'browser worker',
  'orchestrator',
  'llm worker',
  'judge worker',
  'cpu worker',
  'gpu worker',
  'Chromium',
  'app server',
  'Temporal',
  'PostgreSQL',
  'command',
  'link to Temporal',
  'link to PostgreSQL',
] as const;

export type Victim = (typeof victims)[number];

/** How a job reaches its servers and models: docs/chaos.md. */
export const arrangementNames = ['embedded', 'linked', 'scripted'] as const;
export type ArrangementName = (typeof arrangementNames)[number];

/** `kill` is SIGKILL, `stop` SIGSTOP for a while, `cut` resets connections and refuses new ones for a while. */
export type Manner = 'kill' | 'stop' | 'cut';

export interface Cell {
  readonly victim: Victim;
  readonly manner: Manner;
  readonly point: Point;
}

/** The queue whose work a victim does; null for one that everything depends on. */
export const roleOf: Readonly<Record<Victim, TaskQueue | null>> = {
  'browser worker': 'browser',
  'llm worker': 'llm',
  'judge worker': 'judge',
  'cpu worker': 'cpu',
  'gpu worker': 'gpu',
  Chromium: 'browser',
  'app server': 'browser',
  orchestrator: null,
  Temporal: null,
  PostgreSQL: null,
  command: null,
  'link to Temporal': null,
  'link to PostgreSQL': null,
};

const isLink = (victim: Victim) => victim.startsWith('link');

/** Longer than the heartbeat timeout: whoever wakes up after it is a zombie. */
export const STOP_MS = 15_000;
export const CUT_MS = 4_000;

/**
 * Every victim in every phase in which it has work, in an order drawn from the seed, within which a job's phases take
 * turns: each is there only for a while. `linked`: the job's servers are reached over links that can be cut.
 */
export function chaosCells(seed: number, wanted: readonly Victim[], linked: boolean): readonly Cell[] {
  const random = randomGenerator([seed, 'chaos']);
  const cells = wanted
    .filter((victim) => linked || !isLink(victim))
    .flatMap((victim) => cellsOf(victim, (here) => random.shuffle(here)[0]));
  const byPhase = Map.groupBy(random.shuffle(cells), ({ point }) => point.phase);
  const longest = Math.max(0, ...[...byPhase.values()].map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    [...byPhase.values()].flatMap((inPhase) => inPhase[turn] ?? []),
  ).flat();
}

function cellsOf(victim: Victim, pick: (here: readonly Point[]) => Point | undefined): readonly Cell[] {
  const role = roleOf[victim];
  const own = points.filter((point) => role === null || point.role === role);
  const byPhase = [...Map.groupBy(own, ({ phase }) => phase).values()];
  const manners: readonly Manner[] = isLink(victim) ? ['cut'] : mannersOf(victim);
  return byPhase.flatMap((here) => {
    const point = pick(here);
    return point === undefined ? [] : manners.map((manner): Cell => ({ victim, manner, point }));
  });
}

/** What is stopped, not killed, goes on later as if nothing had happened: its writes must be refused. */
function mannersOf(victim: Victim): readonly Manner[] {
  return victim === 'browser worker' ? ['kill', 'stop'] : ['kill'];
}

export const nameOf = ({ victim, manner }: Pick<Cell, 'victim' | 'manner'>): string => {
  if (manner === 'stop') return `${victim}, stopped ${STOP_MS / 1000} s`;
  return manner === 'cut' ? `${victim}, cut ${CUT_MS / 1000} s` : victim;
};

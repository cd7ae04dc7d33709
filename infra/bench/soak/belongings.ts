/** What a process has of the machine, to be compared before and after many rollouts. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandLine } from '../../processes.ts';
import { memoryMiBOf, processTree } from '../process-tree.ts';

export interface Belongings {
  /** The process itself and its descendants. */
  readonly processes: number;
  /** Ports that the process listens on. */
  readonly ports: number;
  /** Profiles of its browsers, those of browsers that have ended included. */
  readonly folders: number;
  /** Memory of the process alone, garbage collected where that can be asked for. */
  readonly nodeMiB: number;
  readonly treeMiB: number;
}

/** `profiles` collects the browsers' folders over the calls. */
export function belongings(pid: number, profiles: Set<string>): Belongings {
  globalThis.gc?.();
  const tree = processTree(pid);
  for (const member of tree) {
    const profile = /--user-data-dir=(\S+)/.exec(commandLine(member))?.[1];
    if (profile !== undefined) profiles.add(profile);
  }
  return {
    processes: tree.length,
    ports: listeningPorts(pid),
    folders: [...profiles].filter((profile) => existsSync(profile)).length,
    nodeMiB: process.memoryUsage().heapUsed / 2 ** 20,
    treeMiB: memoryMiBOf(pid),
  };
}

/** Sockets of the process in state LISTEN, from proc(5). */
function listeningPorts(pid: number): number {
  const listening = new Set(
    readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const own = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  return own.filter((link) => listening.has(link)).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Growth of the heap from one tenth of the way to the end that is no noise. */
const GROWTH_LIMIT_MIB = 30;

/** A sentence for everything that is there at the end and was not at the start, or grew on the way. */
export function leftBehind(seen: readonly Belongings[]): readonly string[] {
  const [start, warm] = seen;
  const [during, end] = seen.slice(-2);
  if (!start || !warm || !during || !end) throw new Error('nothing was measured');
  const kinds = ['processes', 'ports', 'folders'] as const;
  return [
    ...kinds
      .filter((kind) => end[kind] > start[kind])
      .map((kind) => `${end[kind] - start[kind]} more ${kind} than at the start`),
    ...(during.nodeMiB - warm.nodeMiB > GROWTH_LIMIT_MIB
      ? [`the heap grew from ${warm.nodeMiB.toFixed(0)} to ${during.nodeMiB.toFixed(0)} MiB`]
      : []),
  ];
}

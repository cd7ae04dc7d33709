/** What a process and its descendants use, read from /proc: Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Of USER_HZ, which Linux fixes for what it tells programs. */
const TICKS_A_SECOND = 100;
const MEBI = 2 ** 20;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Its own, without its children's. */
  readonly cpuSeconds: number;
}

/** The pids of a process and all its descendants that are alive. */
export function processTree(root: number): readonly number[] {
  return treeOf(root).map(({ pid }) => pid);
}

const LOOK_EVERY_MS = 200;

/**
 * CPU seconds that the tree uses from now on; the function that is returned ends the watch. Processes that end on the
 * way count with what they had used when they were last looked at: those of a killed browser are inherited by nobody
 * in the tree.
 */
export function watchCpu(root: number): () => number {
  const usedBefore = new Map(treeOf(root).map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
  const used = new Map<number, number>();
  const look = () => {
    for (const { pid, cpuSeconds } of treeOf(root)) used.set(pid, cpuSeconds);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return [...used].reduce((sum, [pid, seconds]) => sum + seconds - (usedBefore.get(pid) ?? 0), 0);
  };
}

/** Memory of the tree in MiB, shared pages divided among those that share them. */
export function memoryMiBOf(root: number): number {
  const kibibytes = processTree(root).map((pid) => {
    const rollup = readProc(`${pid}/smaps_rollup`);
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  });
  return (kibibytes.reduce((sum, each) => sum + each, 0) * 1024) / MEBI;
}

function treeOf(root: number): readonly ProcessStat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const tree = all.filter(({ pid }) => pid === root);
  // The list grows while it is walked: each member brings its children.
  for (const member of tree) tree.push(...all.filter(({ parent }) => parent === member.pid));
  return tree;
}

function statOf(pid: number): ProcessStat | null {
  const stat = readProc(`${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (stat === '' || fields[0] === 'Z') return null;
  // utime and stime: fields 14 and 15 of proc(5).
  const ticks = fields.slice(11, 13).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), cpuSeconds: ticks / TICKS_A_SECOND };
}

/** '' for a process that has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

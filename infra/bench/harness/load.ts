/** What steps and contexts cost the machine. */
import { availableParallelism } from 'node:os';
import { memoryMiBOf, watchCpu } from '../process-tree.ts';
import { takeWalk } from './side-by-side.ts';
import { openOurs, type Place } from './sides.ts';
import type { Walk } from './walk.ts';

export interface Throughput {
  readonly contexts: number;
  readonly stepsPerSecond: number;
  /** CPU seconds of the whole process tree, browsers included. */
  readonly cpuSecondsPerStep: number;
  /** Of the machine's cores, the share that the tree had. */
  readonly share: number;
}

/** Walks in `contexts` lanes at a time until each has taken `rounds` times every walk. */
export async function measureThroughput(
  place: Place,
  walks: readonly Walk[],
  contexts: number,
  rounds: number,
): Promise<Throughput> {
  const [began, cpuUsed] = [performance.now(), watchCpu(process.pid)];
  const lane = async (): Promise<number> => {
    let steps = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const walk of walks) steps += (await takeWalk(openOurs, place, walk)).length;
    }
    return steps;
  };
  const taken = await Promise.all(Array.from({ length: contexts }, lane));
  const steps = taken.reduce((sum, each) => sum + each, 0);
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = cpuUsed();
  return {
    contexts,
    stepsPerSecond: steps / seconds,
    cpuSecondsPerStep: cpuSeconds / steps,
    share: cpuSeconds / seconds / availableParallelism(),
  };
}

/** MiB that each of `contexts` open contexts adds to the browser's processes. */
export async function measureMemory(
  place: Place,
  [walk]: readonly Walk[],
  contexts: number,
): Promise<number> {
  if (walk === undefined) throw new Error('there is no walk');
  const before = memoryMiBOf(process.pid);
  const sides = await Promise.all(Array.from({ length: contexts }, () => openOurs(place, walk)));
  for (const side of sides) for (const step of walk.steps.slice(0, 2)) await side.take(step);
  const during = memoryMiBOf(process.pid);
  for (const side of sides) await side.close();
  return (during - before) / contexts;
}

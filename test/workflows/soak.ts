/** Many training steps with activities that answer at once: what grows with them, if anything does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { growBankId, taskQueues, trainRunId, trainShardId, trainStepId } from '../../workflows/names.ts';
import type { House } from './scripted-house.ts';

export interface SoakReport {
  readonly seconds: number;
  /** Most events of one history. */
  readonly step: number;
  readonly growth: number;
  readonly shard: number;
  readonly run: number;
  /** Events of all histories of a shard for each of its training steps. */
  readonly shardPerStep: number;
  /** Megabytes of this process, which holds all workers, at every tenth of the way. */
  readonly residentMb: readonly number[];
}

/** Cached workflows of a soaked house: few, so that the cache is full before the first memory is measured. */
export const SOAKED_CACHE = 40;

const GROW_EVERY = 20;

export async function soak(house: House, runId: string, shards: number, steps: number): Promise<SoakReport> {
  const began = performance.now();
  const run = await house.client.workflow.start('trainRunWorkflow', {
    ...{ taskQueue: taskQueues.orchestrator, workflowId: trainRunId(runId) },
    args: [{ runId, shards, steps, growEverySteps: GROW_EVERY }],
  });
  const residentMb = await measureMemory(house, shards * steps);
  await run.result();
  const seconds = (performance.now() - began) / 1000;

  const lengthOf = async (workflowId: string): Promise<number> => {
    const history = await house.client.workflow.getHandle(workflowId).fetchHistory();
    return history.events?.length ?? 0;
  };
  const ofShards = async (idOf: (shard: number) => string) =>
    Math.max(...(await Promise.all(range(shards).map((shard) => lengthOf(idOf(shard))))));
  const stepLengths = [];
  for (const step of range(steps))
    stepLengths.push(await ofShards((shard) => trainStepId(runId, shard, step)));
  const shardLengths = await shardHistories(house, runId);
  return {
    seconds,
    step: Math.max(...stepLengths),
    growth: await ofShards((shard) => growBankId(runId, shard, GROW_EVERY - 1)),
    shard: Math.max(...shardLengths),
    run: await lengthOf(trainRunId(runId)),
    shardPerStep: shardLengths.reduce((sum, length) => sum + length, 0) / (shards * steps),
    residentMb,
  };
}

async function measureMemory(house: House, steps: number): Promise<readonly number[]> {
  const residentMb: number[] = [];
  for (const tenth of range(10)) {
    while (house.calls.filter((call) => call === 'commitTrainingStep').length < (steps * (tenth + 1)) / 10) {
      await sleep(100);
    }
    residentMb.push(Math.round(process.memoryUsage().rss / 2 ** 20));
  }
  return residentMb;
}

/** Of every execution of every shard; a shard that continued as new has several. */
async function shardHistories(house: House, runId: string): Promise<readonly number[]> {
  const lengths: number[] = [];
  const isShard = new RegExp(`^${trainShardId(runId, 0).replace(/0$/, '')}\\d+$`);
  for await (const { workflowId, runId: executionId } of house.client.workflow.list()) {
    if (!isShard.test(workflowId)) continue;
    const history = await house.client.workflow.getHandle(workflowId, executionId).fetchHistory();
    lengths.push(history.events?.length ?? 0);
  }
  return lengths;
}

const range = (length: number) => Array.from({ length }, (_, index) => index);

/** What a soak went beyond, a sentence each; empty when all is well. */
export function findExcess({ step, growth, shard, shardPerStep, residentMb }: SoakReport): readonly string[] {
  // The first two tenths fill the caches.
  const [before = 0, after = 0] = [Math.max(...residentMb.slice(2, 5)), Math.max(...residentMb.slice(-3))];
  return [
    ...(step > 175 ? [`a training step has ${step} events, over 175`] : []),
    ...(growth > 40 ? [`a growth has ${growth} events, over 40`] : []),
    ...(shard > 700 ? [`a history of a shard has ${shard} events, over 700`] : []),
    ...(shardPerStep > 11 ? [`a shard has ${shardPerStep.toFixed(1)} events a step, over 11`] : []),
    ...(after > before * 1.15 + 20 ? [`memory grew from ${before} to ${after} MB`] : []),
  ];
}

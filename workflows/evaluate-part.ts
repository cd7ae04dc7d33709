import { continueAsNew, executeChild, workflowInfo } from '@temporalio/workflow';
import { cpu } from './activity-proxies.ts';
import { childOptions } from './child-options.ts';
import { evaluateTaskWorkflow } from './evaluate-task.ts';
import { allOrNone } from './failures.ts';
import type { Closing, Gate } from './gate.ts';
import { evaluateTaskId } from './names.ts';
import { governedByRun, type Restart } from './run-control.ts';

export interface EvaluatePartInput {
  readonly runId: string;
  /** Half-open range of the run's task list, at most 100 tasks. */
  readonly from: number;
  readonly to: number;
  readonly concurrency: number;
  /** Why the part begins paused; null: it does not. */
  readonly closing: Closing | null;
}

/** Ids are read in pages so that no payload reaches 2 KB. */
const PAGE = 20;

/** One part of a suite: a queue of task ids worked off by a fixed number of lanes. */
export function evaluatePartWorkflow(input: EvaluatePartInput): Promise<void> {
  return governedByRun(input.closing, (gate) => evaluate(input, gate));
}

async function evaluate(input: EvaluatePartInput, gate: Gate): Promise<Restart | null> {
  const queue = await gate.through(() => listTasks(input));
  const lanes = Math.min(input.concurrency, queue.length);
  await allOrNone(Array.from({ length: lanes }, () => () => workOff(input.runId, queue, gate)));
  if (queue.length === 0) return null;
  // Only a part that was paused hundreds of times gets here. Lanes finish what they take, in the order of the list.
  const from = input.to - queue.length;
  return () => continueAsNew<typeof evaluatePartWorkflow>({ ...input, from, closing: gate.closing });
}

async function listTasks({ runId, from, to }: EvaluatePartInput): Promise<string[]> {
  const queue: string[] = [];
  for (let first = from; first < to; first += PAGE) {
    queue.push(...(await cpu.listEvaluationTasks({ runId, from: first, to: Math.min(to, first + PAGE) })));
  }
  return queue;
}

async function workOff(runId: string, queue: string[], gate: Gate): Promise<void> {
  while (!workflowInfo().continueAsNewSuggested) {
    const taskId = queue.shift();
    if (taskId === undefined) return;
    await gate.through(() =>
      executeChild(evaluateTaskWorkflow, {
        workflowId: evaluateTaskId(runId, taskId),
        args: [{ runId, taskId }],
        ...childOptions,
      }),
    );
  }
}

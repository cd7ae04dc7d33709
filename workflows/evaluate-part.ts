import { executeChild, ParentClosePolicy } from '@temporalio/workflow';
import { cpu } from './activity-proxies.ts';
import { evaluateTaskWorkflow } from './evaluate-task.ts';
import { allOrNone } from './failures.ts';
import { evaluateTaskId } from './names.ts';

export interface EvaluatePartInput {
  readonly runId: string;
  /** Half-open range of the run's task list, at most 100 tasks. */
  readonly from: number;
  readonly to: number;
  readonly concurrency: number;
}

/** Ids are read in pages so that no payload reaches 2 KB. */
const PAGE = 20;

/** One part of a suite: a queue of task ids worked off by a fixed number of lanes. */
export async function evaluatePartWorkflow(input: EvaluatePartInput): Promise<void> {
  const { runId } = input;
  const queue: string[] = [];
  for (let from = input.from; from < input.to; from += PAGE) {
    queue.push(...(await cpu.listEvaluationTasks({ runId, from, to: Math.min(input.to, from + PAGE) })));
  }
  await allOrNone(Array.from({ length: input.concurrency }, () => () => workOff(runId, queue)));
}

async function workOff(runId: string, queue: string[]): Promise<void> {
  for (let taskId = queue.shift(); taskId !== undefined; taskId = queue.shift()) {
    await executeChild(evaluateTaskWorkflow, {
      workflowId: evaluateTaskId(runId, taskId),
      args: [{ runId, taskId }],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    });
  }
}

import { executeChild, ParentClosePolicy } from '@temporalio/workflow';
import { cpu } from './activity-proxies.ts';
import { evaluatePartWorkflow } from './evaluate-part.ts';
import { notingFailure } from './failures.ts';
import { evaluatePartId } from './names.ts';

export interface EvaluateSuiteInput {
  readonly runId: string;
  /** Tasks of the pinned list (invariant 10). */
  readonly tasks: number;
  /** Evaluation tasks open at the same time. */
  readonly concurrency: number;
}

/** At 3 to 9 events a task, a part stays below 1,000 events. */
const TASKS_PER_PART = 100;

/** The whole suite in parts, one after another; the bound on open tasks holds inside each. */
export function evaluateSuiteWorkflow(input: EvaluateSuiteInput): Promise<void> {
  return notingFailure(input.runId, () => evaluate(input));
}

async function evaluate(input: EvaluateSuiteInput): Promise<void> {
  const { runId, concurrency } = input;
  await cpu.setRunState({ runId, state: 'running', reason: 'evaluating' });
  for (let part = 0; part * TASKS_PER_PART < input.tasks; part += 1) {
    const from = part * TASKS_PER_PART;
    await executeChild(evaluatePartWorkflow, {
      workflowId: evaluatePartId(runId, part),
      args: [{ runId, from, to: Math.min(input.tasks, from + TASKS_PER_PART), concurrency }],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    });
  }
  await cpu.setRunState({ runId, state: 'completed', reason: 'every task of the list has a result' });
}

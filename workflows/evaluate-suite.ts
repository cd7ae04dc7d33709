import { continueAsNew, startChild, workflowInfo } from '@temporalio/workflow';
import { childOptions } from './child-options.ts';
import { evaluatePartWorkflow } from './evaluate-part.ts';
import { evaluatePartId } from './names.ts';
import { type Completion, governingRun, type RunControl } from './run-control.ts';

export interface EvaluateSuiteInput {
  readonly runId: string;
  /** Tasks of the pinned list (invariant 10). */
  readonly tasks: number;
  /** Evaluation tasks open at the same time. */
  readonly concurrency: number;
  /** First part that this workflow run does. */
  readonly nextPart: number;
}

/** At 3 to 9 events a task, a part stays below 1,000 events. */
const TASKS_PER_PART = 100;

/** The whole suite in parts, one after another; the bound on open tasks holds inside each. */
export function evaluateSuiteWorkflow(input: EvaluateSuiteInput): Promise<void> {
  return governingRun(input.runId, 'evaluating', (control) => evaluate(input, control));
}

async function evaluate(input: EvaluateSuiteInput, control: RunControl): Promise<Completion<void>> {
  const { tasks } = input;
  for (let part = input.nextPart; part * TASKS_PER_PART < tasks; part += 1) {
    await evaluatePart(input, part, control);
    const isLast = (part + 1) * TASKS_PER_PART >= tasks;
    if (!isLast && workflowInfo().continueAsNewSuggested) await restart(input, part + 1, control);
  }
  return { result: undefined, reason: 'every task of the list has a result' };
}

function evaluatePart(
  { runId, tasks, concurrency }: EvaluateSuiteInput,
  part: number,
  control: RunControl,
): Promise<void> {
  const from = part * TASKS_PER_PART;
  const to = Math.min(tasks, from + TASKS_PER_PART);
  return control.member(() =>
    startChild(evaluatePartWorkflow, {
      workflowId: evaluatePartId(runId, part),
      args: [{ runId, from, to, concurrency, closing: null }],
      ...childOptions,
    }),
  );
}

async function restart(input: EvaluateSuiteInput, nextPart: number, { gate }: RunControl): Promise<never> {
  // A pause is no part of the state that goes on: it is answered here first.
  await gate.untilOpen();
  return continueAsNew<typeof evaluateSuiteWorkflow>({ ...input, nextPart });
}

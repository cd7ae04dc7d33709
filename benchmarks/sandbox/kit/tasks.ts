import canonicalize from 'canonicalize';
import { z } from 'zod';
import { randomGenerator } from '../../../workflows/method/random.ts';
import type { Evidence, Split, Task, Verdict } from '../../contract.ts';
import { answers } from './answer.ts';
import { type AppSpec, type AppState, hostOf, startState, uiSchema } from './app.ts';
import type { AppServer } from './app-server.ts';
import type { Move } from './pattern.ts';
import { startSession } from './session.ts';
import type { Subgoal } from './subgoals.ts';
import type { Instance, Template } from './template.ts';

/** A task with everything that must never reach a page: verifier, rubric, solution. */
export interface SandboxTask {
  readonly task: Task;
  readonly subgoals: readonly Subgoal[];
  readonly moves: readonly Move[];
  readonly answer: string | null;
  /** All that makes the task what it is, for the benchmark's revision. */
  readonly content: unknown;
  /** A fresh life of the task's application. `state` is plain JSON. */
  readonly start: () => AppServer & { state(): unknown };
  readonly grade: (evidence: Evidence) => Verdict;
}

export function tasksOf<D>(app: AppSpec<D>): SandboxTask[] {
  return app.templates.flatMap((template) =>
    template.splits.map((split, index) => makeTask(app, template, index, split)),
  );
}

function makeTask<D>(app: AppSpec<D>, template: Template<D>, index: number, split: Split): SandboxTask {
  const random = randomGenerator(['sandbox', app.name, template.name, index]);
  const instance = template.instantiate(app.seed(random), random, index);
  const initial = startState(instance.data, app.home, instance.dialog ?? null);
  const { moves, solved, subgoals, answer } = instance;
  const task: Task = {
    id: `sandbox/${app.name}/${template.name}-${index + 1}`,
    benchmark: 'sandbox',
    app: app.name,
    instruction: instance.instruction,
    startUrl: `http://${hostOf(app.name)}${app.home}`,
    allowedHosts: [hostOf(app.name)],
    difficulty: template.difficulty,
    split,
    provenance: { source: 'template', ref: template.name },
    viewport: { widthPx: 1280, heightPx: 720 },
    maxSteps: stepBudget(moves.length + 1),
    expectsAnswer: answer !== undefined,
    imageDigests: [],
  };
  return {
    task,
    subgoals,
    moves,
    answer: answer?.value ?? null,
    content: { task, initial, solved, answer: answer ?? null },
    start: () => startSession(app, initial),
    grade: (evidence) => grade(app, instance, evidence),
  };
}

/** Room for as many detours as the shortest solution has steps. */
const stepBudget = (oracleSteps: number): number => Math.min(2 * oracleSteps + 4, 20);

function grade<D>(app: AppSpec<D>, instance: Instance<D>, evidence: Evidence): Verdict {
  const parsed = z.strictObject({ data: app.schema, ui: uiSchema }).safeParse(evidence.state);
  if (!parsed.success) {
    return { kind: 'insufficient_evidence', message: `no valid ${app.name} state: ${parsed.error.message}` };
  }
  if (evidence.infeasible)
    return { kind: 'failure', message: 'declared infeasible, but the task can be done' };
  const difference = firstDifference(app, instance, parsed.data);
  if (difference !== null) return { kind: 'failure', message: difference };
  if (instance.answer !== undefined && !answers(instance.answer, evidence.answer)) {
    return { kind: 'failure', message: `the answer ${JSON.stringify(evidence.answer)} is not right` };
  }
  return { kind: 'success', message: 'the final state is as asked' };
}

/** Compares part by part, so that a verdict names what is missing or was damaged. */
function firstDifference<D>(app: AppSpec<D>, instance: Instance<D>, state: AppState<D>): string | null {
  const wanted = app.settled(instance.solved);
  const found = app.settled(state.data);
  const wrong = Object.keys(wanted).filter(
    (part) => canonicalize(wanted[part]) !== canonicalize(found[part]),
  );
  return wrong.length === 0 ? null : `not as asked: ${wrong.join(', ')}`;
}

import type { Subgoal, TraceStep } from '../../contract.ts';
import { carriesOut, type Move, press, samePath } from './pattern.ts';

export type { Subgoal } from '../../contract.ts';

function firstStep(steps: readonly TraceStep[], holds: (step: TraceStep) => boolean): number | null {
  const found = steps.find(holds);
  return found === undefined ? null : found.index;
}

/** Any of the moves was carried out. */
export function moved(id: string, description: string, weight: number, ...moves: readonly Move[]): Subgoal {
  return {
    id,
    description,
    weight,
    reachedAt: (steps) => firstStep(steps, (step) => moves.some((move) => carriesOut(step, move))),
  };
}

/** One of the pages was opened. */
export function opened(
  id: string,
  description: string,
  weight: number,
  ...paths: readonly string[]
): Subgoal {
  return {
    id,
    description,
    weight,
    reachedAt: (steps) => firstStep(steps, (step) => paths.some((path) => samePath(step.urlAfter, path))),
  };
}

/** The thing was looked up: its page opened, its name searched for, or a control in its row used. */
export function located(weight: number, thing: string, path: string): Subgoal {
  const wanted = thing.toLowerCase();
  const touches = (step: TraceStep): boolean => {
    if (samePath(step.urlAfter, path)) return true;
    if (step.action.tool === 'type' && step.target?.role === 'searchbox') {
      const typed = step.action.text.trim().toLowerCase();
      return typed !== '' && wanted.includes(typed);
    }
    return step.result.ok && (step.target?.context.toLowerCase().includes(wanted) ?? false);
  };
  return {
    id: 'located',
    description: `found "${thing}"`,
    weight,
    reachedAt: (steps) => firstStep(steps, touches),
  };
}

/** The rollout stopped by itself right after the last of what it had to do. */
export function stoppedAfter(weight: number, move: Move): Subgoal {
  return {
    id: 'stopped',
    description: 'stopped once the work was done',
    weight,
    reachedAt: (steps) => {
      const last = steps.at(-1);
      const before = steps.at(-2);
      if (last?.action.tool !== 'stop' || before === undefined) return null;
      return carriesOut(before, move) ? last.index : null;
    },
  };
}

/** Something was answered, on the page that tells the answer. Whether it is right is for the outcome verifier. */
export function answeredOn(weight: number, path: string): Subgoal {
  return {
    id: 'answered',
    description: 'gave an answer while the page with the answer was open',
    weight,
    reachedAt: (steps, answer) =>
      answer === null
        ? null
        : firstStep(steps, (step) => step.action.tool === 'stop' && samePath(step.urlBefore, path)),
  };
}

/** A destructive control that the task did not ask for. */
export function mistaken(name: string, weight = -0.5): Subgoal {
  return moved(
    `mistake-${name.toLowerCase().replaceAll(' ', '-')}`,
    `pressed "${name}", which nobody asked for`,
    weight,
    press(name),
  );
}

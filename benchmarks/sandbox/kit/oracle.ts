import type { Action, Observation, ObservedElement, TraceStep } from '../../contract.ts';
import { carriesOut, isMeant, type Move } from './pattern.ts';
import type { SandboxTask } from './tasks.ts';

/**
 * The next action of somebody who knows the solution and reads the page as every policy does. It continues from
 * wherever the trace stands; what covers the page is dismissed, and when the way is lost it starts over once.
 */
export function nextOracleAction(
  sandboxTask: SandboxTask,
  observation: Observation,
  history: readonly TraceStep[],
): Action {
  const { task, moves, answer } = sandboxTask;
  const move = moves[movesMade(moves, history, task.startUrl)];
  if (move === undefined) return { tool: 'stop', answer };
  const found = observation.elements.find((element) => isMeant(move.on, element, observation.url));
  if (found !== undefined && found.coveredBy === null) return actionOf(move, found);
  const dismiss = observation.elements.find(isDismissal);
  if (dismiss !== undefined) return { tool: 'click', ref: dismiss.ref, kind: 'single' };
  const startedOver = history.at(-1)?.action.tool === 'navigate';
  return startedOver ? { tool: 'stop', answer: null } : { tool: 'navigate', url: task.startUrl };
}

/** How many moves, in their order, the trace has carried out since it last started over. */
function movesMade(moves: readonly Move[], history: readonly TraceStep[], startUrl: string): number {
  let made = 0;
  for (const step of history) {
    const next = moves[made];
    if (step.action.tool === 'navigate' && step.action.url === startUrl) made = 0;
    else if (next !== undefined && carriesOut(step, next)) made += 1;
  }
  return made;
}

const DISMISSALS = ['dismiss', 'cancel', 'not now', 'keep it'];

function isDismissal(element: ObservedElement): boolean {
  return (
    element.role === 'button' &&
    element.coveredBy === null &&
    DISMISSALS.includes(element.name.trim().toLowerCase())
  );
}

function actionOf(move: Move, { ref }: ObservedElement): Action {
  switch (move.tool) {
    case 'click':
      return { tool: 'click', ref, kind: 'single' };
    case 'type':
      return { tool: 'type', ref, text: move.text, clear: true, submit: move.submit };
    case 'select':
      return { tool: 'select', ref, option: move.option };
    case 'check':
      return { tool: 'check', ref, checked: move.checked };
  }
}

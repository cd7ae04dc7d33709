/** Reads one trace against the named subgoals of its task: what was reached, what each step was good for. */
import type { Subgoal, TraceStep } from '../../benchmarks/contract.ts';
import { actionKey } from './page-reading.ts';
import { stemsOf, verbsAmong } from './words.ts';

/**
 * What a step was good for: `progress` reached a subgoal, `finish` ended the rollout with the work done,
 * `approach` led to a later subgoal, `detour` did not, `stray` worked a control that no subgoal needed,
 * `overrun` came after the work was done, `early` ended the rollout too soon.
 */
export type StepRole =
  | 'progress'
  | 'finish'
  | 'approach'
  | 'detour'
  | 'stray'
  | 'overrun'
  | 'repeat'
  | 'failed'
  | 'mistake'
  | 'early';

export interface Assessment {
  readonly reached: readonly Subgoal[];
  readonly missed: readonly Subgoal[];
  readonly mistakes: readonly Subgoal[];
  /** Weight of the reached subgoals, in [0, 1]. */
  readonly progress: number;
  /** Weight of the mistakes, from 0. */
  readonly damage: number;
  readonly roles: readonly StepRole[];
  /** Steps that brought nothing. */
  readonly wasted: number;
}

const wasteful: ReadonlySet<StepRole> = new Set([
  'detour',
  'stray',
  'overrun',
  'repeat',
  'failed',
  'mistake',
]);

/** The subgoal of stopping at once is no work that could be left to do. */
const endingGoal = 'stopped';

export function assess(
  steps: readonly TraceStep[],
  answer: string | null,
  subgoals: readonly Subgoal[],
): Assessment {
  const goals = subgoals.filter(({ weight }) => weight > 0);
  const at = new Map(subgoals.map((subgoal) => [subgoal, subgoal.reachedAt(steps, answer)]));
  const isReached = (subgoal: Subgoal): boolean => at.get(subgoal) !== null;
  const reached = goals.filter(isReached);
  const mistakes = subgoals.filter((subgoal) => subgoal.weight < 0 && isReached(subgoal));
  const progressAt = new Set(reached.map((subgoal) => at.get(subgoal)));
  const mistakeAt = new Set(mistakes.map((subgoal) => at.get(subgoal)));
  const workDone = goals.every((goal) => goal.id === endingGoal || isReached(goal));
  const lastProgress = Math.max(-1, ...reached.map((subgoal) => at.get(subgoal) ?? -1));

  const roles = steps.map((step, position): StepRole => {
    if (mistakeAt.has(step.index)) return 'mistake';
    if (isEnding(step)) return workDone ? 'finish' : 'early';
    if (progressAt.has(step.index)) return 'progress';
    if (workDone && step.index > lastProgress) return 'overrun';
    if (!step.result.ok) return 'failed';
    if (isRepeat(steps, position)) return 'repeat';
    if (worksControl(step)) return 'stray';
    return step.index < lastProgress ? 'approach' : 'detour';
  });
  return {
    reached,
    missed: goals.filter((subgoal) => !isReached(subgoal)),
    mistakes,
    progress: sumOf(reached),
    damage: -sumOf(mistakes),
    roles,
    wasted: roles.filter((role) => wasteful.has(role)).length,
  };
}

const sumOf = (subgoals: readonly Subgoal[]): number => subgoals.reduce((sum, { weight }) => sum + weight, 0);

const isEnding = ({ action }: TraceStep): boolean => action.tool === 'stop' || action.tool === 'infeasible';

function isRepeat(steps: readonly TraceStep[], position: number): boolean {
  const step = steps[position];
  if (step === undefined) return false;
  const key = actionKey(step.action, step.target);
  return steps
    .slice(0, position)
    .some(
      (earlier) => earlier.urlBefore === step.urlBefore && actionKey(earlier.action, earlier.target) === key,
    );
}

/** Following a link, searching and dismissing only look; other controls may change something. */
function worksControl({ action, target }: TraceStep): boolean {
  switch (action.tool) {
    case 'click':
      return target?.role !== 'link' && !verbsAmong(stemsOf(target?.name ?? '')).has('cancel');
    case 'type':
      return target?.role !== 'searchbox';
    case 'select':
    case 'check':
    case 'drag':
    case 'press':
      return true;
    default:
      return false;
  }
}

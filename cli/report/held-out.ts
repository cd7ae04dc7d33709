/** Success on the evaluation tasks, and what selection changed, from the results of each task. */
import { mean } from '../../workflows/method/mean.ts';
import {
  type MeanInterval,
  type OutcomeRates,
  outcomeRates,
  pairedInterval,
} from '../../workflows/method/rates.ts';
import {
  emittedOf,
  greedyOf,
  isSwapped,
  notFinished,
  type RolloutResult,
  type TaskResult,
} from './evaluation-results.ts';

/** One policy, with or without selection, on the whole task list. */
export interface Arm {
  readonly name: string;
  readonly runId: string;
  readonly rates: OutcomeRates;
  /** Average browser steps of the successful rollouts; null if there is none. */
  readonly stepsOnSuccess: number | null;
  /** Null for the base itself. */
  readonly againstBase: PairedDifference | null;
}

/** Task by task, over the tasks that both arms have a verdict on: a lost rollout is no zero (invariant 1). */
export interface PairedDifference {
  readonly pairs: number;
  /** In [-1, 1]; null for fewer than two pairs. */
  readonly difference: MeanInterval | null;
}

export type Emission = (result: TaskResult) => RolloutResult | null;

export interface ArmSource {
  readonly name: string;
  readonly runId: string;
  readonly results: readonly TaskResult[];
  readonly emission: Emission;
}

/** The first source is the base that the others are compared with. */
export function compareArms(sources: readonly ArmSource[]): readonly Arm[] {
  const [base] = sources;
  return sources.map((source) => ({
    name: source.name,
    runId: source.runId,
    ...summarise(source),
    againstBase: base === undefined || source === base ? null : pairedDifference(base, source),
  }));
}

function summarise({ results, emission }: ArmSource): Pick<Arm, 'rates' | 'stepsOnSuccess'> {
  const emitted = results.map(emission);
  const successes = emitted.filter((rollout) => rollout?.outcome.kind === 'success');
  return {
    rates: outcomeRates(emitted.map((rollout) => rollout?.outcome ?? notFinished)),
    stepsOnSuccess: mean(successes.map((rollout) => rollout?.steps ?? 0)),
  };
}

function pairedDifference(base: ArmSource, arm: ArmSource): PairedDifference {
  const ofBase = new Map(base.results.map((result) => [result.taskId, scoreOf(base.emission(result))]));
  const pairs = arm.results.flatMap((result): (readonly [number, number])[] => {
    const [before, after] = [ofBase.get(result.taskId) ?? null, scoreOf(arm.emission(result))];
    return before === null || after === null ? [] : [[before, after]];
  });
  return { pairs: pairs.length, difference: pairedInterval(pairs) };
}

/** Null without a verdict. */
function scoreOf(rollout: RolloutResult | null): 0 | 1 | null {
  switch (rollout?.outcome.kind) {
    case 'success':
      return 1;
    case 'failure':
      return 0;
    case 'unscored':
    case undefined:
      return null;
  }
}

/** One part of the tasks: those of an app, or of a difficulty. */
export interface Part {
  readonly name: string;
  readonly rates: OutcomeRates;
}

/** The rates of each part, sorted by name. */
export function ratesBy(
  results: readonly TaskResult[],
  emission: Emission,
  partOf: (result: TaskResult) => string,
): readonly Part[] {
  return [...Map.groupBy(results, partOf)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, part]) => ({
      name,
      rates: outcomeRates(part.map((result) => emission(result)?.outcome ?? notFinished)),
    }));
}

/** What selection did to one app's tasks, against their greedy rollouts. */
export interface SelectionEffect {
  readonly app: string;
  readonly improve: number;
  readonly tie: number;
  readonly regress: number;
  /** Tasks where one of the two has no verdict. */
  readonly unscored: number;
  readonly swapped: number;
  readonly tasks: number;
}

export function selectionEffects(results: readonly TaskResult[]): readonly SelectionEffect[] {
  return [...Map.groupBy(results, ({ app }) => app)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([app, tasks]) => selectionEffect(app, tasks));
}

export function selectionEffect(app: string, results: readonly TaskResult[]): SelectionEffect {
  const changes = results.map(changeOf);
  const count = (change: Change) => changes.filter((each) => each === change).length;
  return {
    app,
    ...{
      improve: count('improve'),
      tie: count('tie'),
      regress: count('regress'),
      unscored: count('unscored'),
    },
    swapped: results.filter(isSwapped).length,
    tasks: results.length,
  };
}

export type Change = 'improve' | 'tie' | 'regress' | 'unscored';

export function changeOf(result: TaskResult): Change {
  const [greedy, emitted] = [scoreOf(greedyOf(result)), scoreOf(emittedOf(result))];
  if (greedy === null || emitted === null) return 'unscored';
  if (greedy === emitted) return 'tie';
  return emitted > greedy ? 'improve' : 'regress';
}

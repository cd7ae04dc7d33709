import type { RandomGenerator } from '../../../workflows/method/random.ts';
import type { Difficulty } from '../../contract.ts';
import type { AnswerKey } from './answer.ts';
import type { Command } from './command.ts';
import type { Move } from './pattern.ts';
import type { Subgoal } from './subgoals.ts';

/** What a template makes of one seeded world. */
export interface Instance<D> {
  readonly instruction: string;
  /** The data that the rollout starts from. */
  readonly data: D;
  /** A dialog that covers the first page. */
  readonly dialog?: string | null;
  /** The data when the task is solved and nothing else has been touched. */
  readonly solved: D;
  /** Only where an answer is asked for. */
  readonly answer?: AnswerKey;
  /** How the oracle goes about it; the last `stop` is understood. */
  readonly moves: readonly Move[];
  readonly subgoals: readonly Subgoal[];
}

/** A seeded family of tasks. */
export interface Template<D> {
  readonly name: string;
  readonly difficulty: Difficulty;
  /** Split of each instance, one instance per entry. */
  readonly splits: readonly ('train' | 'heldout')[];
  readonly instantiate: (data: D, random: RandomGenerator, instance: number) => Instance<D>;
}

/** Two ways to share three instances out, taken in turn so that both splits grow alike. */
export const MOSTLY_TRAIN = ['train', 'heldout', 'train'] as const;
export const MOSTLY_HELDOUT = ['heldout', 'train', 'heldout'] as const;
/** For a template that training never sees. */
export const HELDOUT_ONLY = ['heldout', 'heldout'] as const;

/**
 * What a command makes of the data. Tasks are solved by the same reducer that serves the pages, so that the
 * expected outcome cannot drift away from what the pages do.
 */
export function outcomeOf<D>(
  commands: Readonly<Record<string, Command<D>>>,
  data: D,
  command: string,
  fields: Readonly<Record<string, string>>,
): D {
  const effect = commands[command]?.(data, new URLSearchParams(fields));
  if (effect?.kind !== 'done') throw new Error(`the task cannot be solved: ${command} was refused`);
  return effect.data;
}

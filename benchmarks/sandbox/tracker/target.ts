import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { type Move, searchFor } from '../kit/pattern.ts';
import { mistaken, type Subgoal } from '../kit/subgoals.ts';
import { outcomeOf, type Template } from '../kit/template.ts';
import { PAGE_SIZE } from '../kit/widgets.ts';
import { pickOne } from '../kit/words.ts';
import { trackerCommands } from './commands.ts';
import type { Issue, TrackerData } from './data.ts';

export type TrackerTemplate = Template<TrackerData>;

export const after = (
  data: TrackerData,
  command: string,
  fields: Readonly<Record<string, string>>,
): TrackerData => outcomeOf(trackerCommands, data, command, fields);

export interface Target {
  readonly issue: Issue;
  readonly id: string;
  readonly page: string;
  readonly find: readonly Move[];
}

/** The open issue that a task is about: the third instance of a template has it beyond the first page. */
export function target(data: TrackerData, random: RandomGenerator, index: number): Target {
  const shown = index < 2 ? data.issues.slice(0, PAGE_SIZE) : data.issues.slice(PAGE_SIZE);
  const issue = pickOne(
    random,
    shown.filter(({ status }) => status === 'Open'),
  );
  const find = index < 2 ? [] : [searchFor(issue.title)];
  return { issue, id: String(issue.id), page: `/issue/${issue.key}`, find };
}

export const others = (values: readonly string[], value: string): string[] =>
  values.filter((other) => other !== value);

export const DESTRUCTIVE: readonly Subgoal[] = [mistaken('Delete issue'), mistaken('Delete selected')];

/** The tool calls among which the embedded policy chooses, built from one observation. */
import type { Action, Observation, Task } from '../../benchmarks/contract.ts';
import { type PossibleAnswer, possibleAnswers } from './answers.ts';
import { type ElementReading, type PageReading, readText, type TextReading } from './page-reading.ts';
import type { TaskReading } from './task-reading.ts';

export interface Candidate {
  readonly action: Action;
  readonly on: ElementReading | null;
  /** What the action is about: the element's name, the option, the value answered. */
  readonly label: TextReading | null;
  /** Index of the term that is typed or looked for. */
  readonly term: number | null;
  readonly answer: PossibleAnswer | null;
}

const maxOptions = 40;

const clickableRoles = new Set([
  'button',
  'link',
  'menuitem',
  'menuitemradio',
  'option',
  'radio',
  'switch',
  'tab',
  'treeitem',
  'gridcell',
]);

/** Never empty: waiting and giving up are always possible. Same request, same candidates in the same order. */
export function buildCandidates(
  task: Pick<Task, 'expectsAnswer' | 'instruction' | 'startUrl'>,
  reading: TaskReading,
  observation: Observation,
  page: PageReading,
): Candidate[] {
  return [
    ...page.elements.flatMap((element) => elementCandidates(element, reading)),
    ...pageCandidates(task.startUrl, reading, observation, page),
    ...endings(task, reading, observation),
  ];
}

function elementCandidates(on: ElementReading, reading: TaskReading): Candidate[] {
  const { ref, role, states } = on.element;
  if (states.includes('disabled')) return [];
  if (on.editable) return typings(on, reading);
  if (role === 'combobox' || role === 'listbox') return selections(on, reading);
  if (role === 'checkbox') {
    const checked = !states.includes('checked');
    return [candidate({ tool: 'check', ref, checked }, { on, label: on.name })];
  }
  if (!clickableRoles.has(role)) return [];
  return [candidate({ tool: 'click', ref, kind: 'single' }, { on, label: on.name })];
}

function typings(on: ElementReading, reading: TaskReading): Candidate[] {
  const { ref } = on.element;
  return reading.terms.flatMap(({ text }, term) =>
    [false, true].map((submit) =>
      candidate({ tool: 'type', ref, text, clear: true, submit }, { on, label: on.name, term }),
    ),
  );
}

function selections(on: ElementReading, reading: TaskReading): Candidate[] {
  const { ref, options, value } = on.element;
  const offered = options.filter((option) => option !== value).slice(0, maxOptions);
  return offered.map((option) => {
    const label = readText(option, reading);
    const term = reading.terms.findIndex(({ folded }) => folded === label.folded);
    return candidate({ tool: 'select', ref, option }, { on, label, term: term < 0 ? null : term });
  });
}

function pageCandidates(
  startUrl: string,
  reading: TaskReading,
  { scroll, tabs, truncated, url }: Observation,
  page: PageReading,
): Candidate[] {
  const actions: Action[] = [{ tool: 'wait' }];
  const canFind = truncated ? reading.terms : [];
  if (scroll.topPx + scroll.viewportPx < scroll.heightPx) {
    actions.push({ tool: 'scroll', ref: null, direction: 'down' });
  }
  if (scroll.topPx > 0) actions.push({ tool: 'scroll', ref: null, direction: 'up' });
  if (page.past.steps > 0) actions.push({ tool: 'back' });
  if (url !== startUrl) actions.push({ tool: 'navigate', url: startUrl });
  if (page.dialogOpen) actions.push({ tool: 'press', key: 'Escape' });
  for (const { active, index } of tabs) if (!active) actions.push({ tool: 'tab', index });
  return [
    ...actions.map((action) => candidate(action)),
    ...canFind.map(({ text }, term) => candidate({ tool: 'find', text }, { term })),
  ];
}

function endings(
  { expectsAnswer, instruction }: Pick<Task, 'expectsAnswer' | 'instruction'>,
  reading: TaskReading,
  observation: Observation,
): Candidate[] {
  const answers = expectsAnswer ? possibleAnswers(observation, reading, instruction) : [];
  return [
    ...answers.map((answer) =>
      candidate({ tool: 'stop', answer: answer.text }, { label: readText(answer.text, reading), answer }),
    ),
    candidate({ tool: 'stop', answer: null }),
    candidate({ tool: 'infeasible', reason: 'The task cannot be done here.' }),
  ];
}

function candidate(action: Action, about: Partial<Omit<Candidate, 'action'>> = {}): Candidate {
  return { action, on: null, label: null, term: null, answer: null, ...about };
}

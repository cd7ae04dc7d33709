/** What the embedded policy reads off one observation and the steps so far. */
import type { Action, Observation, ObservedElement, TraceStep } from '../../benchmarks/contract.ts';
import { foldText } from '../../workflows/method/task-terms.ts';
import type { TaskReading, Term } from './task-reading.ts';
import { stemsOf, type VerbGroup, verbsAmong } from './words.ts';

/** A piece of page text compared with the instruction. */
export interface TextReading {
  readonly folded: string;
  readonly stems: readonly string[];
  /** Indices of the task's terms that it contains. */
  readonly terms: readonly number[];
  /** Distinct stems that the instruction also has. */
  readonly asked: number;
}

export interface ElementReading {
  readonly element: ObservedElement;
  readonly name: TextReading;
  readonly context: TextReading;
  readonly heading: TextReading;
  readonly verbs: ReadonlySet<VerbGroup>;
  readonly editable: boolean;
}

export interface PageReading {
  readonly elements: readonly ElementReading[];
  readonly title: TextReading;
  /** Feedback after an action; null if the page shows none. */
  readonly notice: TextReading | null;
  /** The notice reports a refusal. */
  readonly alert: boolean;
  readonly dialogOpen: boolean;
  /** Indices of the terms that the page shows anywhere outside fields. */
  readonly visibleTerms: ReadonlySet<number>;
  /** Most terms, and most asked words, in the surroundings of any element. */
  readonly mostContextTerms: number;
  readonly mostContextAsked: number;
  /** Indices of the terms that stand in a field or were entered and not left behind. */
  readonly usedTerms: ReadonlySet<number>;
  readonly past: PastReading;
  /** How well the words before each term name an element, by the element's ref. */
  readonly fits: ReadonlyMap<string, readonly number[]>;
}

/** The steps so far, by what they were done to. */
export interface PastReading {
  readonly steps: number;
  readonly last: TraceStep | null;
  readonly lastKey: string | null;
  /** How often each action was carried out, and the ones that failed. */
  readonly done: ReadonlyMap<string, number>;
  readonly failed: ReadonlySet<string>;
  readonly touched: ReadonlySet<string>;
}

const editableRoles = new Set(['textbox', 'searchbox', 'spinbutton']);

export function readPage(
  observation: Observation,
  history: readonly TraceStep[],
  task: TaskReading,
): PageReading {
  const read = rememberedReader(task);
  const elements = observation.elements.map((element): ElementReading => readElement(element, read));
  const notice = findNotice(observation.text);
  const text = foldText(observation.text);
  const inFields = observation.elements.flatMap(chosenText);
  const entered = new Set([...enteredValues(history), ...inFields]);
  return {
    elements,
    title: read(`${observation.title} ${observation.elements.at(-1)?.heading ?? ''}`),
    notice: notice === null ? null : read(notice),
    alert: notice !== null && refusal.test(notice),
    dialogOpen: observation.elements.some(({ states }) => states.includes('in-dialog')),
    visibleTerms: indicesOf(task.terms, ({ folded }) => text.includes(folded)),
    mostContextTerms: Math.max(0, ...elements.map(({ context }) => context.terms.length)),
    mostContextAsked: Math.max(0, ...elements.map(({ context }) => context.asked)),
    usedTerms: indicesOf(task.terms, ({ folded }) => entered.has(folded)),
    past: readPast(history),
    fits: new Map(
      elements.map(({ element }) => [element.ref, task.terms.map((term) => fitOf(element, term))]),
    ),
  };
}

/** 0 to 4: the nearer a word of the label stands before the term, the better. `Priority: High` is named Priority. */
function fitOf({ name }: ObservedElement, { lead }: Term): number {
  const label = stemsOf(name.split(':')[0] ?? '', { keepStopWords: true });
  const [nearest, ...further] = lead.map((word) => label.includes(word));
  return (nearest ? 2 : 0) + further.filter(Boolean).length;
}

/** Feedback is a short sentence of its own: `Email archived.`, `Enter a subject.` */
function findNotice(text: string): string | null {
  return (
    text.split('\n').find((line) => /^\p{Lu}[^.!?]*[.!]$/u.test(line) && line.split(' ').length <= 12) ?? null
  );
}

const refusal =
  /^(choose|enter|fill|pick|please|select|write)\b|\b(cannot|error|failed|invalid|missing|must|not|required)\b/i;

/** Rows and headings recur on a page: each text is read once. */
function rememberedReader(task: TaskReading): (text: string) => TextReading {
  const known = new Map<string, TextReading>();
  return (text) => {
    const reading = known.get(text) ?? readText(text, task);
    known.set(text, reading);
    return reading;
  };
}

export function readText(text: string, task: TaskReading): TextReading {
  const folded = foldText(text);
  const stems = [...new Set(stemsOf(text))];
  return {
    folded,
    stems,
    terms: [...indicesOf(task.terms, (term) => folded.includes(term.folded))],
    asked: stems.filter((word) => task.stems.has(word)).length,
  };
}

/** Equal for the same tool call on the same element, whatever its ref is today. */
export function actionKey(
  action: Action,
  target: { role: string; name: string; context: string } | null,
): string {
  return JSON.stringify([
    action.tool,
    action.tool === 'check' ? action.checked : null,
    argumentOf(action),
    targetKey(target),
  ]);
}

export const targetKey = (target: { role: string; name: string; context: string } | null): string =>
  target === null ? '' : JSON.stringify([target.role, target.name, target.context]);

function argumentOf(action: Action): string | null {
  switch (action.tool) {
    case 'type':
    case 'find':
      return action.text;
    case 'select':
      return action.option;
    case 'press':
      return action.key;
    case 'scroll':
      return action.direction;
    case 'navigate':
      return action.url;
    case 'tab':
      return String(action.index);
    case 'stop':
      return action.answer;
    case 'click':
    case 'check':
    case 'hover':
    case 'drag':
    case 'back':
    case 'wait':
    case 'infeasible':
      return null;
  }
}

function readElement(element: ObservedElement, read: (text: string) => TextReading): ElementReading {
  const name = read(element.name);
  return {
    element,
    name,
    context: read(element.context),
    heading: read(element.heading),
    verbs: verbsAmong(name.stems),
    editable: editableRoles.has(element.role),
  };
}

function readPast(history: readonly TraceStep[]): PastReading {
  const done = new Map<string, number>();
  const failed = new Set<string>();
  const touched = new Set<string>();
  for (const { action, target, result } of history) {
    const key = actionKey(action, target);
    if (result.ok) {
      done.set(key, (done.get(key) ?? 0) + 1);
      touched.add(targetKey(target));
    } else failed.add(key);
  }
  const last = history.at(-1) ?? null;
  return {
    steps: history.length,
    last,
    lastKey: last && actionKey(last.action, last.target),
    done,
    failed,
    touched,
  };
}

/** What a field holds, or the choice that is made. */
function chosenText({ name, value, states }: ObservedElement): string[] {
  if (value !== null) return [foldText(value)];
  return states.includes('checked') || states.includes('selected') ? [foldText(name)] : [];
}

/** Folded values that earlier steps entered; leaving a form without pressing anything forgets its values. */
function enteredValues(history: readonly TraceStep[]): ReadonlySet<string> {
  const kept = new Set<string>();
  let pending: string[] = [];
  for (const { action, target, result } of history) {
    if (!result.ok) continue;
    if (action.tool === 'type') pending.push(foldText(action.text));
    if (action.tool === 'select') pending.push(foldText(action.option));
    if (target?.role === 'option' || target?.role === 'radio') pending.push(foldText(target.name));
    const leaves = action.tool === 'back' || action.tool === 'navigate' || target?.role === 'link';
    const commits = (action.tool === 'type' && action.submit) || target?.role === 'button';
    if (commits) for (const value of pending) kept.add(value);
    if (commits || leaves) pending = [];
  }
  return new Set([...kept, ...pending]);
}

function indicesOf<T>(items: readonly T[], holds: (item: T) => boolean): ReadonlySet<number> {
  return new Set(items.flatMap((item, index) => (holds(item) ? [index] : [])));
}

/** Finds what a page could answer: values, each with the words that label it. */
import type { Observation } from '../../benchmarks/contract.ts';
import { foldText } from '../../workflows/method/task-terms.ts';
import { readText, type TextReading } from './page-reading.ts';
import type { TaskReading } from './task-reading.ts';

export type ValueKind = 'email' | 'date' | 'money' | 'number' | 'name';

export interface PossibleAnswer {
  readonly text: string;
  readonly kind: ValueKind;
  /** What stands before the value: in its line, or the line above a bare value. */
  readonly label: TextReading;
  readonly line: TextReading;
}

const maxAnswers = 32;
/** A value that stands alone has no more words than this. */
const bareWords = 4;

const patterns: readonly (readonly [ValueKind, RegExp])[] = [
  ['email', /[^\s@,;]+@[^\s@,;]+\.\w+/g],
  [
    'date',
    /\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2} [A-Z][a-z]+ \d{4}\b|\b[A-Z][a-z]{2,8} \d{1,2}(?:, \d{4})?\b|\b\d{1,2}:\d{2}\b/g,
  ],
  ['money', /[$€£]\d[\d,]*(?:\.\d+)?/g],
  ['number', /\+?\d[\d ().-]{5,}\d|\b\d[\d,]*(?:\.\d+)?\b/g],
  ['name', /\b[A-Z][\w-]*(?: [A-Z0-9][\w-]*)*/g],
];

/** Distinct values that the instruction does not already contain, those with an asked label first. */
export function possibleAnswers(
  observation: Observation,
  task: TaskReading,
  instruction: string,
): PossibleAnswer[] {
  const known = foldText(instruction);
  const found = new Map<string, PossibleAnswer>();
  const lines = observation.text.split('\n').map((line) => line.trim());
  for (const [index, line] of lines.entries()) {
    for (const answer of valuesOf(line, lines[index - 1] ?? '', task)) {
      const key = foldText(answer.text);
      const other = found.get(key);
      if (known.includes(key) || (other !== undefined && promise(other) >= promise(answer))) continue;
      found.set(key, answer);
    }
  }
  // Array.sort is stable: equal promise keeps reading order.
  return [...found.values()].sort((a, b) => promise(b) - promise(a)).slice(0, maxAnswers);
}

const promise = ({ label, line }: PossibleAnswer): number => 2 * label.asked + line.terms.length;

function valuesOf(line: string, lineAbove: string, task: TaskReading): PossibleAnswer[] {
  const [label, value] = splitLabel(line);
  if (value !== null) return [possibleAnswer(value, label, line, task)];
  const isBare = line !== '' && line.split(/\s+/).length <= bareWords;
  if (isBare) return [possibleAnswer(line, lineAbove, line, task)];
  return patterns.flatMap(([kind, pattern]) =>
    [...line.matchAll(pattern)].map((match) => ({
      text: match[0].trim(),
      kind,
      label: readText(lastWords(line.slice(0, match.index)), task),
      line: readText(line, task),
    })),
  );
}

/** `Phone: 555-0134` has a label and a value; a value may not contain another colon label. */
function splitLabel(line: string): [label: string, value: string | null] {
  const match = /^([^:]{1,40}): (.{1,80})$/.exec(line);
  return match === null ? [line, null] : [match[1] ?? '', match[2] ?? null];
}

function possibleAnswer(text: string, label: string, line: string, task: TaskReading): PossibleAnswer {
  return {
    text,
    kind: kindOfValue(text),
    label: readText(label, task),
    line: readText(`${label} ${line}`, task),
  };
}

function kindOfValue(text: string): ValueKind {
  const kind = patterns.find(([, pattern]) => new RegExp(`^(?:${pattern.source})$`).test(text))?.[0];
  return kind ?? 'name';
}

const lastWords = (text: string): string => text.trim().split(/\s+/).slice(-bareWords).join(' ');

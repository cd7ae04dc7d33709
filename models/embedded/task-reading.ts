/** What the embedded policy reads off an instruction. */
import type { Task } from '../../benchmarks/contract.ts';
import { foldText, taskTerms } from '../../workflows/method/task-terms.ts';
import { stemsOf, type VerbGroup, verbsAmong } from './words.ts';

export type TermKind = 'email' | 'date' | 'number' | 'quoted' | 'name';

/** A literal of the instruction: something to type, to choose or to look for. */
export interface Term {
  readonly text: string;
  readonly folded: string;
  readonly kind: TermKind;
  /** Stems of the words right before it: `subject "Hello"` says which field it belongs to. */
  readonly before: ReadonlySet<string>;
}

export interface TaskReading {
  readonly terms: readonly Term[];
  /** Stems of the whole instruction, literals included. */
  readonly stems: ReadonlySet<string>;
  readonly verbs: ReadonlySet<VerbGroup>;
  readonly asksHowMany: boolean;
  readonly asksWho: boolean;
  readonly asksWhen: boolean;
  readonly asksMoney: boolean;
}

const wordsBefore = 3;

export function readTask({ instruction }: Pick<Task, 'instruction'>): TaskReading {
  const terms = distinctTerms(taskTerms(instruction)).map((folded) => readTerm(folded, instruction));
  const unquoted = instruction.replace(/["“”][^"“”]*["“”]/g, ' ');
  return {
    terms,
    stems: new Set(stemsOf(instruction)),
    verbs: verbsAmong(stemsOf(unquoted)),
    asksHowMany: /\bhow (many|much)\b|\bnumber of\b/i.test(unquoted),
    asksWho: /\bwho(se|m)?\b/i.test(unquoted),
    asksWhen: /\bwhen\b|\bdate\b|\bday\b|\bdue\b|\bdeadline\b/i.test(unquoted),
    asksMoney: /\bprice\b|\bcosts?\b|\btotal\b|\bamount\b|\$/i.test(unquoted),
  };
}

/** The year inside a date is nothing to type, and `Email Sarah Chen` adds nothing to `Sarah Chen`. */
function distinctTerms(terms: readonly string[]): string[] {
  return terms.filter(
    (term) =>
      !terms.some((other) => other !== term && term.endsWith(` ${other}`)) &&
      !terms.some((other) => other !== term && other.includes(term) && !other.endsWith(` ${term}`)),
  );
}

/** As it is written in the instruction: what is typed keeps its capitals. */
function readTerm(folded: string, instruction: string): Term {
  const at = instruction.toLowerCase().indexOf(folded);
  const text = at < 0 ? folded : instruction.slice(at, at + folded.length);
  const lead = stemsOf(instruction.slice(0, Math.max(0, at)));
  const isQuoted = /["“'‘]/.test(instruction[at - 1] ?? '');
  return {
    text,
    folded: foldText(text),
    kind: kindOf(text, isQuoted),
    before: new Set(lead.slice(-wordsBefore)),
  };
}

function kindOf(text: string, isQuoted: boolean): TermKind {
  if (/^\S+@\S+\.\S+$/.test(text)) return 'email';
  if (/^\d{4}-\d{2}(-\d{2})?$/.test(text)) return 'date';
  if (/^[$€£]?\d[\d.,]*$/.test(text)) return 'number';
  return isQuoted ? 'quoted' : 'name';
}

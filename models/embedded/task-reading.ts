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
  readonly isQuoted: boolean;
  /** Stems of the last words before it, nearest first: `subject "Hello"` says which field it belongs to. */
  readonly lead: readonly string[];
}

export interface TaskReading {
  readonly terms: readonly Term[];
  /** Stems of the whole instruction, literals included. */
  readonly stems: ReadonlySet<string>;
  readonly verbs: ReadonlySet<VerbGroup>;
  /** Its first word of meaning: in a question, what is asked for. */
  readonly focus: string | null;
  readonly asksHowMany: boolean;
  readonly asksWho: boolean;
  readonly asksWhen: boolean;
  readonly asksMoney: boolean;
}

const leadLength = 3;

export function readTask({ instruction }: Pick<Task, 'instruction'>): TaskReading {
  const unquoted = instruction.replace(/["“”][^"“”]*["“”]/g, ' ');
  return {
    terms: distinctTerms(taskTerms(instruction).map((text) => readTerm(text, instruction))),
    stems: new Set(stemsOf(instruction)),
    verbs: verbsAmong(stemsOf(unquoted)),
    focus: stemsOf(unquoted)[0] ?? null,
    asksHowMany: /\bhow (many|much)\b|\bnumber of\b/i.test(unquoted),
    asksWho: /\bwho(se|m)?\b/i.test(unquoted),
    asksWhen: /\bwhen\b|\bdate\b|\bday\b|\bdue\b|\bdeadline\b/i.test(unquoted),
    asksMoney: /\bprice\b|\bcosts?\b|\btotal\b|\bamount\b|\$/i.test(unquoted),
  };
}

/** `text` is written as in the instruction: what is typed keeps its capitals. */
function readTerm(text: string, instruction: string): Term {
  const at = Math.max(0, instruction.indexOf(text));
  const wordsBefore = stemsOf(instruction.slice(0, at), { keepStopWords: true });
  const around = [instruction[at - 1] ?? '', instruction[at + text.length] ?? ''];
  const isQuoted = around.every((mark) => /["“”'‘’]/.test(mark));
  return {
    text,
    folded: foldText(text),
    kind: kindOf(text, isQuoted),
    isQuoted,
    lead: wordsBefore.slice(-leadLength).reverse(),
  };
}

function kindOf(text: string, isQuoted: boolean): TermKind {
  if (/^\S+@\S+\.\S+$/.test(text)) return 'email';
  if (/^\d{4}-\d{2}(-\d{2})?$/.test(text)) return 'date';
  if (/^[$€£]?\d[\d.,]*$/.test(text)) return 'number';
  return isQuoted ? 'quoted' : 'name';
}

/** Quoted strings stay; the year inside a date is nothing to type, and `Email Sarah Chen` is Sarah Chen. */
function distinctTerms(terms: readonly Term[]): Term[] {
  const isRestOf = (term: Term, run: Term): boolean =>
    run.kind === 'name' && run.folded.endsWith(` ${term.folded}`);
  const isPartOf = (term: Term, whole: Term): boolean => term !== whole && whole.folded.includes(term.folded);
  const adds = (term: Term): boolean =>
    terms.every((other) => !isRestOf(other, term) && (!isPartOf(term, other) || isRestOf(term, other)));
  return terms.filter((term) => term.isQuoted || adds(term));
}

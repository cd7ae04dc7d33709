/** Questions as models write them, and as they are shown to models. */
import type { Polarity, Question } from '../../workflows/method/types.ts';
import { shorten } from './page-text.ts';

/** Characters of a question and of its scope. */
const LONGEST_TEXT = 300;
/** Characters of a list of questions. */
const LONGEST_LIST = 40_000;

/** Trimmed; null where one of the two is empty or too long. */
export function readTextAndScope(written: {
  readonly text: string;
  readonly scope: string;
}): { readonly text: string; readonly scope: string } | null {
  const [text, scope] = [written.text.trim(), written.scope.trim()];
  const fits = [text, scope].every((part) => part !== '' && part.length <= LONGEST_TEXT);
  return fits ? { text, scope } : null;
}

export function readPolarity(value: number): Polarity | null {
  return value === 1 || value === -1 || value === 0 ? value : null;
}

type Shown = Pick<Question, 'text' | 'scope' | 'polarity'>;

/** One line a question: polarity, scope, text. */
export function questionLines(questions: readonly Shown[]): string {
  const lines = questions.map(({ text, scope, polarity }) => `${polarity} ${scope} ${JSON.stringify(text)}`);
  return shorten(lines.join('\n'), LONGEST_LIST) || '(none)';
}

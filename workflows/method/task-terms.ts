/**
 * METHOD 1.5: what `$taskTerm` stands for, any of the terms of a task's instruction: quoted strings, e-mail
 * addresses, dates, numbers and capitalised runs, as written, in that order and each once.
 */
export function taskTerms(instruction: string): string[] {
  const quoted = [...instruction.matchAll(quotedString)].map((match) => match.slice(1).join(''));
  const shaped = [emailAddress, date, number].flatMap((pattern) => instruction.match(pattern) ?? []);
  const byFolded = new Map<string, string>();
  for (const term of [...quoted, ...shaped, ...capitalisedRuns(instruction)]) {
    const folded = foldText(term);
    if (folded !== '' && !byFolded.has(folded)) byFolded.set(folded, term.trim());
  }
  return [...byFolded.values()];
}

/** Comparison is without case and with single spaces. */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}

// A straight single quote opens a term only where it is no apostrophe.
const quotedString = /"([^"]+)"|“([^”]+)”|‘([^’]+)’|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
const emailAddress = /[^\s@"'<>,;]+@[^\s@"'<>,;]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/gu;
const months = 'january|february|march|april|may|june|july|august|september|october|november|december';
const date = new RegExp(
  [
    String.raw`\b\d{4}-\d{2}-\d{2}\b`,
    String.raw`\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b`,
    String.raw`\b(?:${months})\s+\d{1,2}(?:,?\s+\d{4})?\b`,
    String.raw`\b\d{1,2}\s+(?:${months})(?:\s+\d{4})?\b`,
  ].join('|'),
  'gi',
);
const number = /\d+(?:[.,:]\d+)*/g;

/**
 * Runs of capitalised words: names as a person would underline them. The first word of a sentence is capitalised
 * by grammar, so a run that begins there also counts without it, and not at all if it is that word alone.
 */
function capitalisedRuns(instruction: string): string[] {
  const runs: string[] = [];
  for (const match of instruction.matchAll(/\p{Lu}[\p{L}\p{N}'’&-]*(?:\s+\p{Lu}[\p{L}\p{N}'’&-]*)*/gu)) {
    const [run] = match;
    if (!startsSentence(instruction, match.index)) {
      runs.push(run);
      continue;
    }
    const rest = run.replace(/^\S+\s*/u, '');
    if (rest !== '') runs.push(run, rest);
  }
  return runs;
}

const startsSentence = (text: string, index: number): boolean =>
  /(^|[.!?:]["”’']?\s+)["“‘']?$/u.test(text.slice(0, index));

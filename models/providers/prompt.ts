/** Prompt files: named holes, a digest that stands for the text, and no way to fill a hole by accident. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface PromptFile {
  /** sha256 of the file: part of the identity of whoever uses it. */
  readonly digest: string;
  /** Characters of the file. */
  readonly length: number;
}

type Holes = Readonly<Record<string, string>>;

export interface Prompt extends PromptFile {
  /** Throws when `holes` are not exactly those of the file. What is filled in is not looked at again. */
  fill(holes: Holes): { readonly system: string; readonly user: string };
}

/** A part of other prompts. */
export interface PromptPiece extends PromptFile {
  fill(holes: Holes): string;
}

const hole = /\{\{(\w+)\}\}/g;
/** A comment, which formatters of Markdown leave alone. */
const DIVIDER = '\n<!-- message -->\n';

/** Reads `models/prompts/<name>.md`: the system prompt, the divider, the user's message. */
export function loadPrompt(name: string): Prompt {
  const { text, file } = readPrompt(name);
  const [system, user, ...rest] = text.split(DIVIDER);
  if (system === undefined || user === undefined || rest.length > 0) {
    throw new Error(`prompts/${name}.md needs exactly one line "${DIVIDER.trim()}"`);
  }
  const check = holesOf(name, text);
  return {
    ...file,
    fill: (holes) => {
      check(holes);
      return { system: filled(system, holes), user: filled(user, holes) };
    },
  };
}

/** Reads `models/prompts/<name>.md`, a piece for others. */
export function loadPiece(name: string): PromptPiece {
  const { text, file } = readPrompt(name);
  const check = holesOf(name, text);
  return {
    ...file,
    fill: (holes) => {
      check(holes);
      return filled(text, holes);
    },
  };
}

function readPrompt(name: string): { readonly text: string; readonly file: PromptFile } {
  const text = readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), 'utf8');
  const digest = createHash('sha256').update(text).digest('hex');
  return { text, file: { digest, length: text.length } };
}

function holesOf(name: string, text: string): (holes: Holes) => void {
  const wanted = new Set([...text.matchAll(hole)].map((match) => match[1] ?? ''));
  return (holes) => {
    const wrong = wanted.symmetricDifference(new Set(Object.keys(holes)));
    if (wrong.size > 0)
      throw new Error(`prompts/${name}.md and its holes differ in: ${[...wrong].join(', ')}`);
  };
}

const filled = (text: string, holes: Holes): string =>
  text.trim().replaceAll(hole, (_, key: string) => holes[key] ?? '');

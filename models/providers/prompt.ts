/** Prompt files: named holes, a digest that stands for the text, and no way to fill a hole by accident. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Prompt {
  /** sha256 of the file: part of the identity of whoever uses it. */
  readonly digest: string;
  /** Throws when `holes` are not exactly those of the file. What is filled in is not looked at again. */
  fill(holes: Readonly<Record<string, string>>): { readonly system: string; readonly user: string };
}

const hole = /\{\{(\w+)\}\}/g;
const DIVIDER = '\n---\n';

/** Reads `models/prompts/<name>.md`: the system prompt, a line `---`, the user's message; or a piece for others. */
export function loadPrompt(name: string): Prompt {
  const text = readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), 'utf8');
  const [system = '', user = '', ...rest] = text.split(DIVIDER);
  if (rest.length > 0) throw new Error(`prompts/${name}.md has more than one line "---"`);
  const wanted = new Set([...text.matchAll(hole)].map((match) => match[1] ?? ''));
  return {
    digest: createHash('sha256').update(text).digest('hex'),
    fill: (holes) => {
      const given = new Set(Object.keys(holes));
      const wrong = wanted.symmetricDifference(given);
      if (wrong.size > 0)
        throw new Error(`prompts/${name}.md and its holes differ in: ${[...wrong].join(', ')}`);
      const filled = (part: string): string =>
        part.trim().replaceAll(hole, (_, key: string) => holes[key] ?? '');
      return { system: filled(system), user: filled(user) };
    },
  };
}

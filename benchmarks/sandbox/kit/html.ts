/** Markup that is already escaped. Only `html` makes it, so text can never slip in as markup. */
export interface Html {
  readonly markup: string;
}

export type Part = Html | string | number | null | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function toMarkup(part: Part): string {
  if (part === null || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(toMarkup).join('');
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Template tag: interpolated strings and numbers are escaped, `null` and `false` leave nothing behind. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = strings.map((literal, index) => literal + toMarkup(parts[index] ?? null)).join('');
  return { markup };
}

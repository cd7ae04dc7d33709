/** Finds the element that words describe, as a person would point it out: by role, name, row and heading. */
import { z } from 'zod';
import type { Observation, ObservedElement } from '../../benchmarks/contract.ts';

const text = z.string().min(1).optional();

export const locatorSchema = z
  .strictObject({
    /** Exact. */
    role: text,
    /** The whole name; where none is equal, a part of it. Letter case and spacing do not count, here and below. */
    name: text,
    /** A part of the text of the row, card or form group around it. */
    context: text,
    /** A part of the nearest heading above it. */
    heading: text,
    /** A part of a field's value. */
    value: text,
    /** Which of several matches, from 0, in the order of the page. */
    nth: z.int().min(0).optional(),
  })
  .refine((locator) => Object.keys(locator).some((key) => key !== 'nth'), {
    error: 'a locator needs a role, name, context, heading or value',
  });

export type Locator = z.infer<typeof locatorSchema>;

/** The page has no such element, or several. */
export class NotLocated extends Error {
  override readonly name = 'NotLocated';
}

const LISTED = 8;

/**
 * The one element that fits. Elements that something covers are passed over while others fit: nobody can point at
 * them. Throws `NotLocated`, which lists what comes near, for none and for several.
 */
export function locate({ elements }: Observation, locator: Locator): ObservedElement {
  const matches = matching(elements, locator);
  const wanted = JSON.stringify(locator);
  if (locator.nth !== undefined) {
    const chosen = matches[locator.nth];
    if (chosen !== undefined) return chosen;
    throw new NotLocated(`${wanted} fits only ${list(matches, elements, locator)}`);
  }
  const [only, ...others] = matches;
  if (only === undefined)
    throw new NotLocated(`${wanted} fits nothing; near it: ${nearest(elements, locator)}`);
  if (others.length === 0) return only;
  throw new NotLocated(
    `${wanted} fits ${matches.length} elements, say which: ${list(matches, elements, locator)}`,
  );
}

function matching(elements: readonly ObservedElement[], locator: Locator): readonly ObservedElement[] {
  const around = elements.filter((element) => fitsAround(element, locator));
  const named = withName(around, locator.name);
  const open = named.filter(({ coveredBy }) => coveredBy === null);
  return open.length > 0 ? open : named;
}

function fitsAround(element: ObservedElement, { role, context, heading, value }: Locator): boolean {
  return (
    (role === undefined || element.role === role) &&
    holds(element.context, context) &&
    holds(element.heading, heading) &&
    holds(element.value ?? '', value)
  );
}

function withName(
  elements: readonly ObservedElement[],
  name: string | undefined,
): readonly ObservedElement[] {
  if (name === undefined) return elements;
  const equal = elements.filter((element) => fold(element.name) === fold(name));
  return equal.length > 0 ? equal : elements.filter((element) => holds(element.name, name));
}

const holds = (whole: string, part: string | undefined): boolean =>
  part === undefined || fold(whole).includes(fold(part));

const fold = (words: string): string => words.replace(/\s+/g, ' ').trim().toLowerCase();

// ---- what comes near ---------------------------------------------------------------------------------------

function list(
  matches: readonly ObservedElement[],
  elements: readonly ObservedElement[],
  locator: Locator,
): string {
  if (matches.length === 0) return `nothing; near it: ${nearest(elements, locator)}`;
  return matches
    .slice(0, LISTED)
    .map((element, nth) => `nth ${nth}: ${describe(element)}`)
    .join('; ');
}

/** The elements that share most words with the locator. */
function nearest(elements: readonly ObservedElement[], locator: Locator): string {
  const wanted = wordsOf(locator.role, locator.name, locator.context, locator.heading, locator.value);
  const scored = elements.map((element) => {
    const { role, name, context, heading, value } = element;
    const words = wordsOf(role, name, context, heading, value ?? '');
    const named = wordsOf(name);
    const shared = [...wanted].filter((word) => words.has(word)).length;
    // Of two rows that hold the words, the element that is called by them comes first.
    return { element, score: shared + [...wanted].filter((word) => named.has(word)).length };
  });
  const best = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  if (best.length === 0) return `none of ${elements.length} elements shares a word with it`;
  return best
    .slice(0, LISTED)
    .map(({ element }) => describe(element))
    .join('; ');
}

function wordsOf(...texts: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(texts.flatMap((each) => fold(each ?? '').match(/[\p{L}\p{N}]+/gu) ?? []));
}

function describe({ role, name, value, context, heading, coveredBy }: ObservedElement): string {
  return [
    `${role} ${JSON.stringify(name)}`,
    ...(value === null ? [] : [`value ${JSON.stringify(value)}`]),
    ...(context === '' ? [] : [`context ${JSON.stringify(context)}`]),
    ...(heading === '' ? [] : [`heading ${JSON.stringify(heading)}`]),
    ...(coveredBy === null ? [] : [`covered by ${JSON.stringify(coveredBy)}`]),
  ].join(' ');
}

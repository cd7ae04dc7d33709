import { count, finite, invalid, sameLength } from './checks.ts';

/** Half-open range of tokens. */
export type Span = readonly [start: number, end: number];

export interface TokenAdvantages {
  readonly advantages: number[];
  /** 1 inside tool-call spans, 0 elsewhere. */
  readonly mask: (0 | 1)[];
}

/**
 * METHOD 4.5: every token of a step's tool-call span gets the step's advantage, all others nothing. One span per
 * advantage, null for a step without a parsable tool call.
 */
export function tokenAdvantages(
  length: number,
  spans: readonly (Span | null)[],
  stepAdvantages: readonly number[],
): TokenAdvantages {
  count('length', length);
  sameLength('stepAdvantages', stepAdvantages.length, spans.length);
  const advantages = new Array<number>(length).fill(0);
  const mask = new Array<0 | 1>(length).fill(0);
  for (const [step, span] of spans.entries()) {
    if (span === null) continue;
    const [start, end] = span;
    if (!(count('span start', start) < count('span end', end) && end <= length)) {
      invalid(`the span of step ${step}`, `[${start}, ${end})`, `a non-empty range within ${length} tokens`);
    }
    if (mask.slice(start, end).includes(1)) {
      invalid(`the span of step ${step}`, `[${start}, ${end})`, 'apart from the other spans');
    }
    advantages.fill(finite('advantage', stepAdvantages[step] ?? 0), start, end);
    mask.fill(1, start, end);
  }
  return { advantages, mask };
}

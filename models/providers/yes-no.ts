/** P(YES) from one reply. */
import type { ChatReply, SampledToken } from './client.ts';

type Side = 'yes' | 'no';

/**
 * The probability of YES against NO at the token that answers, over every spelling among its alternatives and
 * normalised over the two; 1 or 0 from the text where the server gives no log-probabilities. Null: no answer.
 */
export function readYesNo({ text, tokens, ended }: ChatReply): number | null {
  if (ended === 'refusal') return null;
  if (tokens === null) {
    const side = sideOf(text);
    return side === null ? null : side === 'yes' ? 1 : 0;
  }
  const answer = tokens.find((token) => letters(token.text) !== '');
  return answer === undefined || startOf(answer.text) === null ? null : yesShare(answer);
}

function yesShare({ text, logProb, alternatives }: SampledToken): number | null {
  const isListed = alternatives.some((other) => other.text === text);
  const mass = { yes: 0, no: 0 };
  for (const spelling of isListed ? alternatives : [...alternatives, { text, logProb }]) {
    const side = startOf(spelling.text);
    if (side !== null) mass[side] += Math.exp(spelling.logProb);
  }
  const total = mass.yes + mass.no;
  return total > 0 ? mass.yes / total : null;
}

/** `Yes`, ` YES`, `"yes"`, `▁no`, and what a tokeniser may leave of them at the start: `Y`, `YE`, `N`. */
function startOf(text: string): Side | null {
  const start = letters(text);
  if (start === '') return null;
  if ('yes'.startsWith(start)) return 'yes';
  return 'no'.startsWith(start) ? 'no' : null;
}

/** A text that says one of the two words and nothing else. */
function sideOf(text: string): Side | null {
  const said = letters(text);
  return said === 'yes' || said === 'no' ? said : null;
}

/** In lower case, without spaces, the marks that tokenisers use for them, quotes and punctuation. */
function letters(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\s\u0120\u010a\u2581\p{P}\p{S}]/gu, '')
    .toLowerCase();
}

import { invalid, sameLength } from './checks.ts';
import { hardAnswer } from './group-evidence.ts';
import { scopesOverlap } from './scope.ts';
import type { Question } from './types.ts';

/** METHOD 5.3: NFKC, lower case, no punctuation, single spaces. */
export function normaliseText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{P}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

export type DuplicateKind = 'text' | 'tokens' | 'embedding';

type Comparable = Pick<Question, 'text' | 'scope' | 'polarity'> & { readonly embedding?: readonly number[] };

const minJaccard = 0.8;
const minCosine = 0.92;

/**
 * METHOD 5.3: why a candidate repeats an existing question, or null. Equal text counts within the same scope,
 * whatever the polarity; similar text counts with overlapping scope and equal polarity. Embeddings are compared
 * where both have one.
 */
export function duplicateKind(candidate: Comparable, existing: Comparable): DuplicateKind | null {
  const [left, right] = [normaliseText(candidate.text), normaliseText(existing.text)];
  if (left === right && candidate.scope === existing.scope) return 'text';
  if (candidate.polarity !== existing.polarity) return null;
  if (!scopesOverlap(candidate.scope, existing.scope)) return null;
  if (jaccard(left, right) >= minJaccard) return 'tokens';
  const similarity =
    candidate.embedding && existing.embedding ? cosine(candidate.embedding, existing.embedding) : 0;
  return similarity >= minCosine ? 'embedding' : null;
}

/** Of the sets of words of two normalised texts; in [0, 1]. */
function jaccard(left: string, right: string): number {
  const [a, b] = [new Set(left.split(' ')), new Set(right.split(' '))];
  return a.intersection(b).size / a.union(b).size;
}

/** In [-1, 1]; a zero vector has no direction and is refused. */
export function cosine(left: readonly number[], right: readonly number[]): number {
  sameLength('the second embedding', right.length, left.length);
  let [product, leftSquare, rightSquare] = [0, 0, 0];
  for (const [i, value] of left.entries()) {
    const other = right[i] ?? 0;
    product += value * other;
    leftSquare += value * value;
    rightSquare += other * other;
  }
  const norm = Math.sqrt(leftSquare) * Math.sqrt(rightSquare);
  if (!(norm > 0 && Number.isFinite(norm))) invalid('the embeddings', norm, 'finite and not zero');
  return Math.min(1, Math.max(-1, product / norm));
}

const minShared = 50;
const minAgreement = 0.98;

/**
 * METHOD 5.3, behavioural: whether two questions answer alike, or exactly opposite with opposite polarity, over at
 * least 50 shared (rollout, key) observations. Of such a pair the one with the larger E stays.
 */
export function answerAlike(
  shared: readonly (readonly [left: number, right: number])[],
  oppositePolarity: boolean,
): boolean {
  if (shared.length < minShared) return false;
  const agreeing = shared.filter(([left, right]) => hardAnswer(left) === hardAnswer(right)).length;
  const agreement = agreeing / shared.length;
  return oppositePolarity ? agreement <= 1 - minAgreement + 1e-12 : agreement >= minAgreement;
}

import type { PageKeys } from './types.ts';

/**
 * METHOD 1.3: whether a scope pattern covers a page. `*` is any run of characters, everything else is literal,
 * anchored at both ends; a pattern with neither `*` nor `/` is a host.
 */
export function scopeMatches(scope: string, page: PageKeys): boolean {
  const pattern = normaliseScope(scope);
  return isHostScope(pattern) ? pattern === page.hostKey : matchesCanonical(pattern, page);
}

/** METHOD 1.4: a scope covers a URL state if it covers any page visited in it. */
export function scopeMatchesState(scope: string, pages: readonly PageKeys[]): boolean {
  return pages.some((page) => scopeMatches(scope, page));
}

/** Whether some page is covered by both scopes; used to find duplicates (METHOD 5.3). */
export function scopesOverlap(left: string, right: string): boolean {
  const rights = globsOf(right);
  return globsOf(left).some((a) => rights.some((b) => globsIntersect(a, b)));
}

function normaliseScope(scope: string): string {
  return scope
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '');
}

function matchesCanonical(pattern: string, { canonical }: PageKeys): boolean {
  return globMatches(pattern, canonical) || globMatches(pattern, canonical.replace(/\/$/, ''));
}

const isHostScope = (pattern: string): boolean => !pattern.includes('*') && !pattern.includes('/');

/** Globs over canonical addresses that together cover what the scope covers. */
function globsOf(scope: string): string[] {
  const pattern = normaliseScope(scope);
  return isHostScope(pattern) ? [pattern, `${pattern}/*`] : [pattern, `${pattern}/`];
}

/** Two pointers, no backtracking: at a mismatch the last `*` takes one character more. */
function globMatches(pattern: string, subject: string): boolean {
  let p = 0;
  let s = 0;
  let star = -1;
  let resumeAt = 0;
  while (s < subject.length) {
    if (pattern[p] === '*') {
      star = p++;
      resumeAt = s;
    } else if (pattern[p] === subject[s]) {
      p++;
      s++;
    } else if (star >= 0) {
      p = star + 1;
      s = ++resumeAt;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Whether a string exists that both globs match: reachability over pairs of pattern positions. */
function globsIntersect(left: string, right: string): boolean {
  const width = right.length + 1;
  const reachable = new Uint8Array((left.length + 1) * width);
  reachable[0] = 1;
  for (let i = 0; i <= left.length; i++) {
    for (let j = 0; j < width; j++) {
      if (!reachable[i * width + j]) continue;
      const leftStar = left[i] === '*';
      const rightStar = right[j] === '*';
      // A star may end here, or swallow one literal of the other side.
      if (leftStar) reachable[(i + 1) * width + j] = 1;
      if (rightStar) reachable[i * width + j + 1] = 1;
      if (leftStar && j < right.length) reachable[i * width + j + 1] = 1;
      if (rightStar && i < left.length) reachable[(i + 1) * width + j] = 1;
      if (i < left.length && j < right.length && left[i] === right[j]) reachable[(i + 1) * width + j + 1] = 1;
    }
  }
  return reachable[left.length * width + right.length] === 1;
}

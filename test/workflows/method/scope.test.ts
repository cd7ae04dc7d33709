import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scopeMatches, scopeMatchesState, scopesOverlap } from '../../../workflows/method/scope.ts';
import { urlState } from '../../../workflows/method/url-state.ts';
import { cases } from './arbitraries.ts';

const page = fc
  .tuple(
    fc.constantFrom('a.example', 'b.a.example'),
    fc.array(fc.constantFrom('a', 'b', 'ab', 'ba'), { maxLength: 3 }),
    fc.constantFrom('', '#/a', '#/b/a'),
  )
  .map(([host, segments, hash]) => urlState(`https://${host}/${segments.join('/')}${hash}`));

const scope = fc
  .array(fc.constantFrom('*', 'a.example', 'b.', '/', 'a', 'b', '#/'), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''));

/** METHOD 1.3 by a regular expression: fine for short patterns, catastrophic for long ones. */
function matchesByRegExp(pattern: string, subject: { canonical: string; hostKey: string }): boolean {
  if (!/[*/]/.test(pattern)) return pattern === subject.hostKey;
  const source = pattern.split('*').map((part) => part.replace(/[.\\+?^${}()|[\]]/g, '\\$&'));
  const regExp = new RegExp(`^${source.join('[^]*')}$`);
  return regExp.test(subject.canonical) || regExp.test(subject.canonical.replace(/\/$/, ''));
}

describe('scopes (METHOD 1.3)', () => {
  test('the two-pointer glob agrees with a regular expression', () => {
    fc.assert(
      fc.property(scope, page, (pattern, at) => {
        expect(scopeMatches(pattern, at)).toBe(matchesByRegExp(pattern, at));
      }),
      { numRuns: 5000 },
    );
  });

  test('scheme, www., case and surrounding spaces of a pattern do not matter', () => {
    fc.assert(
      fc.property(scope, page, (pattern, at) => {
        const dressed = `  HTTPS://www.${pattern.toUpperCase()} `;
        fc.pre(!pattern.startsWith('*') && !pattern.startsWith('/'));
        expect(scopeMatches(dressed, at)).toBe(scopeMatches(pattern, at));
      }),
      cases,
    );
  });

  test('* covers every page, and an address covers itself', () => {
    fc.assert(
      fc.property(fc.string(), page, (any, at) => {
        expect(scopeMatches('*', urlState(any))).toBe(true);
        expect(scopeMatches(at.canonical, at)).toBe(true);
      }),
      cases,
    );
  });

  test('a final slash covers nothing but the root, and a bare host covers its pages only', () => {
    expect(scopeMatches('reddit.com/r/aww/', urlState('https://reddit.com/r/aww/'))).toBe(false);
    expect(scopeMatches('reddit.com', urlState('https://www.reddit.com/r/aww'))).toBe(true);
    expect(scopeMatches('reddit.com', urlState('https://old.reddit.com/'))).toBe(false);
  });

  test('a URL state is covered if any page visited in it is', () => {
    const pages = [urlState('https://a.example/item/1'), urlState('https://a.example/item/2')];
    expect(scopeMatchesState('a.example/item/2', pages)).toBe(true);
    expect(scopeMatchesState('a.example/item/3', pages)).toBe(false);
  });

  test('a long pattern of stars takes no exponential time', () => {
    const at = urlState(`https://a.example/${'a'.repeat(2000)}`);
    const started = performance.now();
    expect(scopeMatches(`${'*a'.repeat(300)}*b`, at)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('overlap of scopes', () => {
  test('two scopes that cover one page overlap', () => {
    fc.assert(
      fc.property(scope, scope, page, (left, right, at) => {
        if (scopeMatches(left, at) && scopeMatches(right, at)) expect(scopesOverlap(left, right)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test('it is symmetric, reflexive, and everything overlaps with *', () => {
    fc.assert(
      fc.property(scope, scope, (left, right) => {
        expect(scopesOverlap(left, right)).toBe(scopesOverlap(right, left));
        expect(scopesOverlap(left, left)).toBe(true);
        expect(scopesOverlap(left, '*')).toBe(true);
      }),
      cases,
    );
  });

  test.each([
    ['a.example/*', 'b.example/*', false],
    ['a.example', 'a.example/cart*', true],
    ['a.example', 'b.example', false],
    ['*google.com*', 'mail.google.com/mail/*', true],
    ['a.example/cart', 'a.example/item/*', false],
    ['*/settings', '*/profile', false],
    ['*/settings*', '*profile', true],
  ])('%s and %s: %s', (left, right, overlap) => {
    expect(scopesOverlap(left, right)).toBe(overlap);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deficiency, groupDeficiency, pairsToPropose } from '../../../workflows/method/deficiency.ts';
import { answerAlike, cosine, duplicateKind, normaliseText } from '../../../workflows/method/duplicates.ts';
import { cases, paper, score, shuffled, sign } from './arbitraries.ts';
import { expectClose } from './close.ts';

const scoredGroup = fc
  .array(
    fc.tuple(
      score,
      fc.integer({ min: -20, max: 20 }).map((n) => n / 20),
    ),
    { maxLength: 8 },
  )
  .map((members) => ({ scores: members.map(([s]) => s), evidences: members.map(([, v]) => v) }));

describe('deficiency (METHOD 5.1)', () => {
  test('delta lies in [0, 1]; evidence that follows the judge brings it to 0, constant evidence to 1', () => {
    fc.assert(
      fc.property(fc.array(scoredGroup, { maxLength: 4 }), (groups) => {
        const deltaWith = (evidenceOf: (s: number, v: number) => number): number =>
          deficiency(
            groups.map(({ scores, evidences }) =>
              groupDeficiency(
                scores,
                scores.map((s, i) => evidenceOf(s, evidences[i] ?? 0)),
                {
                  ...paper,
                  evidenceGap: 1e-6,
                },
              ),
            ),
          );
        const delta = deltaWith((_, v) => v);
        expect(delta >= 0 && delta <= 1 + 1e-12).toBe(true);
        expect(deltaWith((s) => s)).toBe(0);
        expect([0, 1]).toContain(deltaWith(() => 0.5));
      }),
      cases,
    );
  });

  test('the worst pair is undiscriminated and none of the undiscriminated has a larger gap', () => {
    fc.assert(
      fc.property(scoredGroup, ({ scores, evidences }) => {
        const { worst, undiscriminated } = groupDeficiency(scores, evidences, paper);
        const gapOf = (i: number, j: number): number => (scores[i] ?? 0) - (scores[j] ?? 0);
        const missed = scores.flatMap((a, i) =>
          scores.flatMap((b, j) => {
            const separated = a > b && (a - b >= 0.2 - 1e-12 || (a >= 0.5 && b < 0.5));
            const told = (evidences[i] ?? 0) - (evidences[j] ?? 0) >= 0.05 - 1e-12;
            return separated && !told ? [{ i, j, gap: gapOf(i, j) }] : [];
          }),
        );
        expectClose(
          undiscriminated,
          missed.reduce((sum, { gap }) => sum + gap, 0),
        );
        const largest = Math.max(...missed.map(({ gap }) => gap));
        const first = missed.find(({ gap }) => gap === largest);
        expect(worst).toEqual(first ? [first.i, first.j] : null);
      }),
      cases,
    );
  });

  test('the order of the rollouts does not change what is missed', () => {
    const reordered = scoredGroup.chain((g) => fc.tuple(fc.constant(g), shuffled(g.scores.map((_, i) => i))));
    fc.assert(
      fc.property(reordered, ([{ scores, evidences }, order]) => {
        const original = groupDeficiency(scores, evidences, paper);
        const mixed = groupDeficiency(
          order.map((i) => scores[i] ?? 0),
          order.map((i) => evidences[i] ?? 0),
          paper,
        );
        expectClose([mixed.total, mixed.undiscriminated], [original.total, original.undiscriminated]);
      }),
      cases,
    );
  });

  test('the proposer sees the worst pairs of the groups that miss most, at most growGroups of them', () => {
    fc.assert(
      fc.property(
        fc.array(scoredGroup, { maxLength: 12 }),
        fc.integer({ min: 1, max: 8 }),
        (groups, growGroups) => {
          const named = groups.map((g, i) => ({ ...g, groupId: `g${i}` }));
          const missed = new Map(
            named.map((g) => [g.groupId, groupDeficiency(g.scores, g.evidences, paper).undiscriminated]),
          );
          const pairs = pairsToPropose(named, { ...paper, growGroups });
          const shown = pairs.map((pair) => missed.get(pair.groupId) ?? 0);
          const expected = [...missed.values()]
            .filter((f) => f > 0)
            .sort((a, b) => b - a)
            .slice(0, growGroups);
          expect(shown).toEqual(expected);
        },
      ),
      cases,
    );
  });

  test('evidence and scores must belong together', () => {
    expect(() => groupDeficiency([0.5], [], paper)).toThrow('length of evidences');
    expect(() => groupDeficiency([0.5], [2], paper)).toThrow('trajectory evidence must be');
  });
});

describe('duplicates (METHOD 5.3)', () => {
  const base = { text: 'Is the item in the cart?', scope: 'shop.example/*', polarity: 1 } as const;

  test('normalising is idempotent, and case, width and punctuation do not tell texts apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const normal = normaliseText(text);
        expect(normaliseText(normal)).toBe(normal);
        expect(normaliseText(` ${text} !`)).toBe(normal);
      }),
      cases,
    );
    expect(normaliseText('Ｉs the “Cart”  EMPTY?')).toBe('is the cart empty');
  });

  test('equal text counts in the same scope whatever the polarity', () => {
    fc.assert(
      fc.property(sign, sign, (a, b) => {
        const other = { ...base, text: 'is the ITEM in the cart', polarity: b };
        expect(duplicateKind({ ...base, polarity: a }, other)).toBe('text');
      }),
      cases,
    );
  });

  test('similar words count with overlapping scopes and equal polarity only', () => {
    const similar = { ...base, text: 'Is the item now in the cart?' };
    expect(duplicateKind(base, similar)).toBe('tokens');
    expect(duplicateKind(base, { ...similar, scope: '*' })).toBe('tokens');
    expect(duplicateKind(base, { ...similar, scope: 'other.example/*' })).toBeNull();
    expect(duplicateKind(base, { ...similar, polarity: -1 })).toBeNull();
    expect(duplicateKind(base, { ...base, text: 'Was the order paid by card?' })).toBeNull();
  });

  test('close embeddings count where both questions have one', () => {
    const text = 'Has the product been put into the basket?';
    const near = { ...base, text, embedding: [1, 0.2] };
    expect(duplicateKind({ ...base, embedding: [1, 0] }, near)).toBe('embedding');
    expect(duplicateKind({ ...base, embedding: [0, 1] }, near)).toBeNull();
    expect(duplicateKind(base, near)).toBeNull();
  });

  test('the cosine is symmetric, in [-1, 1], 1 with itself, and refuses a zero vector', () => {
    const vector = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        fc.pre(a.some((x) => x !== 0) && b.some((x) => x !== 0));
        expect(cosine(a, b)).toBe(cosine(b, a));
        expect(Math.abs(cosine(a, b))).toBeLessThanOrEqual(1);
        expect(cosine(a, a)).toBeCloseTo(1, 12);
      }),
      cases,
    );
    expect(() => cosine([0], [1])).toThrow('the embeddings must be');
  });

  test('questions answer alike from 50 shared observations and 98 % agreement on', () => {
    const shared = fc.array(fc.tuple(fc.constantFrom(0, 1), fc.constantFrom(0, 1)), {
      minLength: 45,
      maxLength: 60,
    });
    fc.assert(
      fc.property(shared, fc.nat(3), (pairs, disagreements) => {
        const mostlyEqual = pairs.map(([a], i): [number, number] => [a, i < disagreements ? 1 - a : a]);
        const agreement = 1 - disagreements / pairs.length;
        expect(answerAlike(mostlyEqual, false)).toBe(pairs.length >= 50 && agreement >= 0.98);
        const opposite = mostlyEqual.map(([a, b]): [number, number] => [a, 1 - b]);
        expect(answerAlike(opposite, true)).toBe(answerAlike(mostlyEqual, false));
        expect(answerAlike(opposite, false)).toBe(false);
      }),
      cases,
    );
  });
});

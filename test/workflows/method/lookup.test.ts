import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify } from '../../../workflows/method/certify.ts';
import { type Consulted, indexCertificates, lookUp } from '../../../workflows/method/lookup.ts';
import { cases, paper, track } from './arbitraries.ts';

const state = { hostKey: 'a.example', pathKey: 'a.example/x' };
const keys = ['p:a.example/x', 'h:a.example', '*'] as const;

const consulted: fc.Arbitrary<Consulted | null> = fc.option(
  fc
    .record({
      weight: fc.constantFrom(0, 0.3),
      vetoed: fc.boolean(),
      n: fc.integer({ min: 0, max: 800 }),
    })
    .map((c) => ({ ...c, reasons: c.weight === 0 ? (['lift'] as const) : [] })),
);
const byTier = fc.tuple(consulted, consulted, consulted);

function mapOf(tiers: readonly (Consulted | null)[]): Map<string, Consulted> {
  return new Map(keys.flatMap((key, i) => (tiers[i] ? [[key, tiers[i]] as const] : [])));
}

describe('lookup (METHOD 4.1)', () => {
  test('takes the most specific certified tier unless a blocking refusal stands before it', () => {
    fc.assert(
      fc.property(
        byTier,
        fc.boolean(),
        fc.constantFrom(null, 400),
        (tiers, vetoBlocksFallback, blockFallbackAfter) => {
          const found = lookUp(mapOf(tiers), state, { vetoBlocksFallback, blockFallbackAfter });
          const certifiedAt = tiers.findIndex((c) => c?.reasons.length === 0);
          const before = certifiedAt < 0 ? tiers : tiers.slice(0, certifiedAt);
          const blocked = before.some(
            (c) =>
              c &&
              ((c.vetoed && vetoBlocksFallback) ||
                (blockFallbackAfter !== null && c.n >= blockFallbackAfter)),
          );
          expect(found?.key ?? null).toBe(certifiedAt < 0 || blocked ? null : keys[certifiedAt]);
        },
      ),
      cases,
    );
  });

  test('blocking options only ever remove weights', () => {
    fc.assert(
      fc.property(byTier, (tiers) => {
        const plain = lookUp(mapOf(tiers), state, { vetoBlocksFallback: false, blockFallbackAfter: null });
        for (const options of [
          { vetoBlocksFallback: true, blockFallbackAfter: null },
          { vetoBlocksFallback: true, blockFallbackAfter: 400 },
        ]) {
          const found = lookUp(mapOf(tiers), state, options);
          if (found !== null) expect(found).toEqual(plain);
        }
      }),
      cases,
    );
  });

  test('refinements of one question are kept apart by version', () => {
    const tracker = track(1, [[{ pYes: 1, judge: 0.5 }]]);
    const index = indexCertificates([tracker, { ...tracker, version: 2 }].map((t) => certify(t, paper)));
    expect([...index.keys()]).toEqual(['q@1', 'q@2']);
    expect(index.get('q@2')?.get('*')?.version).toBe(2);
  });
});

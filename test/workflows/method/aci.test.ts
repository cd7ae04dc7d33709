import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextAlpha } from '../../../workflows/method/aci.ts';
import { certify } from '../../../workflows/method/certify.ts';
import { mergeTrackers } from '../../../workflows/method/merge.ts';
import { cases, informativeHistory, paper, sign, track } from './arbitraries.ts';
import { expectClose } from './close.ts';

const errors = fc.array(fc.constantFrom<0 | 1>(0, 1), { minLength: 1, maxLength: 400 });

/** alpha_1 .. alpha_{T+1} for a given sequence of errors. */
function levels(errs: readonly (0 | 1)[], constants: { eta: number; alphaMax: number }): number[] {
  const all = [0.1];
  for (const err of errs) all.push(nextAlpha(all.at(-1) ?? 0.1, err, { alphaStar: 0.1, ...constants }));
  return all;
}

const meanError = (errs: readonly (0 | 1)[]): number =>
  errs.reduce((sum: number, err) => sum + err, 0) / errs.length;

describe('adaptive conformal inference (METHOD 2.4)', () => {
  test('without projection the mean error is alpha* + (alpha_1 - alpha_{T+1})/(eta T), exactly', () => {
    fc.assert(
      fc.property(errors, fc.constantFrom(0.005, 0.01, 0.05), (errs, eta) => {
        const last = levels(errs, { eta, alphaMax: Number.MAX_VALUE }).at(-1) ?? Number.NaN;
        expectClose(meanError(errs), 0.1 + (0.1 - last) / (eta * errs.length));
      }),
      cases,
    );
  });

  test('the long-run bound holds with its exact constant when p in (0, 1] decides the errors', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-9, max: 1, noNaN: true }), { minLength: 1, maxLength: 400 }),
        fc.constantFrom(0.01, 0.1, 0.5),
        (ps, eta) => {
          let alpha = 0.1;
          const errs = ps.map((p) => {
            const err = p <= alpha ? 1 : 0;
            alpha = nextAlpha(alpha, err, { alphaStar: 0.1, eta, alphaMax: Number.MAX_VALUE });
            expect(alpha).toBeGreaterThanOrEqual(-eta * 0.9 - 1e-12);
            expect(alpha).toBeLessThanOrEqual(1 + eta * 0.1 + 1e-12);
            return err;
          });
          const bound = (0.9 + eta) / (eta * ps.length);
          expect(Math.abs(meanError(errs) - 0.1)).toBeLessThanOrEqual(bound + 1e-9);
        },
      ),
      cases,
    );
  });

  test('with projection the errors stay below alpha* + 10.9/T, and while alpha >= 0.05 below 0.10 + 5/T', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-9, max: 1, noNaN: true }), { minLength: 1, maxLength: 400 }),
        (ps) => {
          let alpha = 0.1;
          let failed = 0;
          for (const [t, p] of ps.entries()) {
            const err = p <= alpha ? 1 : 0;
            failed += err;
            alpha = nextAlpha(alpha, err, paper);
            const rate = failed / (t + 1);
            expect(rate).toBeLessThanOrEqual(0.1 + 10.9 / (t + 1) + 1e-9);
            if (alpha >= 0.05) expect(rate).toBeLessThanOrEqual(0.1 + 5 / (t + 1) + 1e-9);
            expect(alpha).toBeLessThanOrEqual(paper.alphaMax);
          }
        },
      ),
      cases,
    );
  });

  test('a held certificate bounds the failed forecasts of its own tracker', () => {
    fc.assert(
      fc.property(sign, informativeHistory, informativeHistory, (sign, first, second) => {
        const tracker = track(sign, [...first, ...second]);
        if (certify(tracker, paper).reasons.includes('suspended')) return;
        expect(tracker.aciErr).toBeLessThanOrEqual(0.1 * tracker.aciT + 5 + 1e-9);
      }),
      cases,
    );
  });

  test('after merging S shards the mean error is at most alpha* + S 0.109/(eta T)', () => {
    fc.assert(
      fc.property(fc.array(informativeHistory, { minLength: 1, maxLength: 4 }), (shards) => {
        const trackers = shards.map((groups) => track(1, groups));
        const merged = mergeTrackers(trackers, paper);
        const slack = trackers.reduce((sum, t) => sum + (0.1 - t.alpha) / paper.eta, 0);
        expect(merged.aciErr).toBeLessThanOrEqual(0.1 * merged.aciT + slack + 1e-9);
        expect(slack).toBeLessThanOrEqual((shards.length * 0.109) / paper.eta + 1e-9);
      }),
      cases,
    );
  });
});

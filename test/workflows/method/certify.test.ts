import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify, certifyBank } from '../../../workflows/method/certify.ts';
import { selectByEBh } from '../../../workflows/method/e-bh.ts';
import type { CertifierRule, Tracker } from '../../../workflows/method/types.ts';
import { cases, history, informativeHistory, paper, polarity, sign, track } from './arbitraries.ts';

const rules: CertifierRule[] = ['default', 'strict', 'naive', 'agreement'];
const rule = fc.constantFrom(...rules);

/** A tracker that meets every condition; histories of this kind certify about as often as not. */
const certifiedTracker = informativeHistory
  .map((groups) => track(1, groups))
  .filter((tracker) => certify(tracker, paper).reasons.length === 0);

describe('certify', () => {
  test('fewer than 50 observations, polarity 0 or a missing answer class never certify under any rule', () => {
    const oneSided = informativeHistory.map((groups) => groups.map((g) => g.map((o) => ({ ...o, pYes: 1 }))));
    fc.assert(
      fc.property(rule, polarity, informativeHistory, oneSided, (certifier, sign, groups, yesOnly) => {
        const constants = { ...paper, certifier };
        const short = track(sign, groups.slice(0, 6));
        expect(short.n).toBeLessThan(50);
        expect(certify(short, constants).reasons).toContain('n');
        expect(certify(track(0, groups), constants).reasons).toContain('neutral');
        expect(certify(track(1, yesOnly), constants).reasons).toContain('lift');
      }),
      cases,
    );
  });

  test('weight is 0 exactly where a reason is given, and else the lift with the sign of the polarity', () => {
    const tracked = fc
      .tuple(polarity, fc.oneof(history, informativeHistory))
      .map(([p, groups]) => track(p, groups));
    fc.assert(
      fc.property(rule, tracked, (certifier, tracker) => {
        const { weight, lift, reasons, n, vetoed } = certify(tracker, { ...paper, certifier });
        if (reasons.length > 0) expect(weight).toBe(0);
        else {
          expect(weight).toBe(lift);
          expect(Math.sign(weight)).toBe(tracker.polarity);
        }
        if (vetoed) expect([tracker.polarity !== 0, n >= 50]).toEqual([true, true]);
      }),
      cases,
    );
  });

  test('what certifies stays certified when any one condition improves', () => {
    const improvements: ((t: Tracker, by: number) => Tracker)[] = [
      (t, by) => ({ ...t, n: t.n + Math.ceil(by * 100), n1: t.n1 + Math.ceil(by * 100) }),
      (t, by) => ({ ...t, ewS1: t.ewS1 + by * (t.ewN1 - t.ewS1) }),
      (t, by) => ({ ...t, logWp: t.logWp.map((log) => log + 10 * by) }),
      (t, by) => ({ ...t, logWm: t.logWm.map((log) => log - 10 * by) }),
      (t, by) => ({ ...t, ewX: t.ewX * (1 + by) }),
      (t, by) => ({ ...t, alpha: Math.min(paper.alphaMax, t.alpha + by) }),
    ];
    fc.assert(
      fc.property(
        certifiedTracker,
        fc.constantFrom(...improvements),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (tracker, improve, by) => {
          expect(certify(improve(tracker, by), paper).reasons).toEqual([]);
        },
      ),
      cases,
    );
  });

  test('each condition alone takes the certificate away, with its own reason', () => {
    const spoilers: [string, (t: Tracker) => Tracker][] = [
      ['neutral', (t) => ({ ...t, polarity: 0 })],
      ['n', (t) => ({ ...t, n: 49 })],
      ['lift', (t) => ({ ...t, ewS1: (t.ewS0 / t.ewN0 + 0.019) * t.ewN1 })],
      ['evidence', (t) => ({ ...t, logWp: t.logWp.map(() => Math.log(9.99)) })],
      ['recency', (t) => ({ ...t, ewX: 1.2815 * Math.sqrt(t.ewQ) })],
      ['suspended', (t) => ({ ...t, alpha: 0.0499 })],
      ['vetoed', (t) => ({ ...t, logWm: t.logWm.map(() => Math.log(10)) })],
    ];
    fc.assert(
      fc.property(certifiedTracker, fc.constantFrom(...spoilers), (tracker, [reason, spoil]) => {
        expect(certify(spoil(tracker), paper).reasons).toContain(reason);
      }),
      cases,
    );
  });

  test('thresholds hit exactly certify: rounding does not decide', () => {
    fc.assert(
      fc.property(certifiedTracker, (tracker) => {
        const atThresholds: Tracker = {
          ...tracker,
          ...{ ewN1: 10, ewN0: 10, ewS1: 1.2, ewS0: 1 },
          logWp: [Math.log(10), Math.log(10), Math.log(10)],
          logWm: [-1, -1, -1],
          alpha: 0.05,
        };
        expect(certify(atThresholds, paper).reasons).toEqual([]);
      }),
      cases,
    );
  });

  test('default certificates are naive ones that also hold the other conditions', () => {
    fc.assert(
      fc.property(sign, fc.oneof(history, informativeHistory), (sign, groups) => {
        const tracker = track(sign, groups);
        const strict = certifyBank([tracker], { ...paper, certifier: 'strict' })[0]?.reasons ?? [];
        const byDefault = certify(tracker, paper).reasons;
        const naive = certify(tracker, { ...paper, certifier: 'naive' }).reasons;
        if (byDefault.length === 0) expect(naive).toEqual([]);
        if (strict.length === 0) expect(byDefault).toEqual([]);
      }),
      cases,
    );
  });
});

const logEValues = fc.array(
  fc.integer({ min: -40, max: 80 }).map((n) => n / 10),
  { maxLength: 30 },
);

/** METHOD 2.6 by its definition: the largest k such that k e-values reach N/(alpha k). */
function largestK(logE: readonly number[], alpha: number): number {
  const ks = logE.map((_, i) => i + 1);
  const reaching = (k: number): number =>
    logE.filter((e) => e >= Math.log(logE.length / (alpha * k)) - 1e-12).length;
  return Math.max(0, ...ks.filter((k) => reaching(k) >= k));
}

describe('e-BH', () => {
  test('selects the k largest e-values for the largest k that they reach', () => {
    fc.assert(
      fc.property(logEValues, (logE) => {
        const selected = selectByEBh(logE, 0.1);
        expect(selected).toHaveLength(largestK(logE, 0.1));
        expect(selected).toEqual(selected.toSorted((a, b) => a - b));
        const worstSelected = Math.min(...selected.map((i) => logE[i] ?? Number.NaN));
        const left = logE.filter((_, i) => !selected.includes(i));
        for (const e of left) expect(e).toBeLessThanOrEqual(worstSelected);
      }),
      cases,
    );
  });

  test('raising one e-value never shortens the selection', () => {
    fc.assert(
      fc.property(logEValues, fc.nat(), fc.integer({ min: 0, max: 50 }), (logE, at, by) => {
        const index = at % Math.max(1, logE.length);
        const higher = logE.map((e, i) => (i === index ? e + by : e));
        expect(selectByEBh(higher, 0.1).length).toBeGreaterThanOrEqual(selectByEBh(logE, 0.1).length);
      }),
      cases,
    );
  });

  test('a value that is not finite is refused', () => {
    expect(() => selectByEBh([1, Number.POSITIVE_INFINITY], 0.1)).toThrow('logE must be finite');
  });

  test('in a bank, strict takes the weight of what e-BH leaves out and says so', () => {
    fc.assert(
      fc.property(
        fc.array(informativeHistory, { minLength: 1, maxLength: 3 }),
        fc.nat(20),
        (histories, nulls) => {
          const informative = histories.map((groups) => track(1, groups));
          const useless = Array.from({ length: nulls }, () => ({
            ...track(1, histories[0] ?? []),
            logWp: [0, 0, 0],
          }));
          const bank = [...informative, ...useless];
          const certificates = certifyBank(bank, { ...paper, certifier: 'strict' });
          const eligible = bank.flatMap((t, i) => (t.n >= 50 ? [i] : []));
          const selected = selectByEBh(
            eligible.map((i) => certificates[i]?.logE ?? Number.NaN),
            0.1,
          ).map((k) => eligible[k]);
          for (const [i, certificate] of certificates.entries()) {
            expect(certificate.reasons.includes('bank')).toBe(!selected.includes(i));
          }
        },
      ),
      cases,
    );
  });
});

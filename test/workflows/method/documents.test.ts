import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify } from '../../../workflows/method/certify.ts';
import { parseCertificate, parseTracker } from '../../../workflows/method/documents.ts';
import {
  checkHyperparameters,
  type Hyperparameters,
  paperHyperparameters,
} from '../../../workflows/method/hyperparameters.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { recalibrate } from '../../../workflows/method/recalibrate.ts';
import { updateTracker } from '../../../workflows/method/tracker.ts';
import {
  cases,
  cell,
  group,
  history,
  informativeHistory,
  paper,
  polarity,
  score,
  track,
} from './arbitraries.ts';

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const groups = fc.oneof(history, informativeHistory);

describe('serialised trackers and certificates', () => {
  test('a tracker comes back from JSON as it was, to the last bit, and goes on alike', () => {
    fc.assert(
      fc.property(polarity, groups, group, (sign, past, next) => {
        const tracker = track(sign, past);
        const read = parseTracker(throughJson(tracker));
        expect(read).toStrictEqual(tracker);
        expect(updateTracker(read, next, paper)).toStrictEqual(updateTracker(tracker, next, paper));
      }),
      cases,
    );
  });

  test('a certificate comes back from JSON as it was, trained or recalibrated', () => {
    const sample = fc.array(fc.record({ taskId: fc.constant('t'), pYes: score, passed: fc.boolean() }));
    fc.assert(
      fc.property(polarity, groups, sample, (sign, past, rollouts) => {
        const trained = certify(track(sign, past), paper);
        const { certificate } = recalibrate(
          { ...cell, polarity: sign },
          rollouts,
          paper,
          randomGenerator([]),
        );
        expect(parseCertificate(throughJson(trained))).toStrictEqual(trained);
        expect(parseCertificate(throughJson(certificate))).toStrictEqual(certificate);
      }),
      cases,
    );
  });

  test('every field of a tracker is needed and checked, by its name', () => {
    const tracker = track(1, [[{ pYes: 1, judge: 0.5 }]]);
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(tracker)),
        fc.constantFrom(undefined, 'x', {}, null),
        (name, bad) => {
          fc.pre(!(bad === 'x' && ['qid', 'key'].includes(name)));
          expect(() => parseTracker({ ...tracker, [name]: bad })).toThrow(name);
        },
      ),
      cases,
    );
  });

  test('another version, inconsistent counts and a weight without a certificate are refused', () => {
    const tracker = track(1, [[{ pYes: 1, judge: 0.5 }]]);
    const certificate = certify(tracker, paper);
    expect(() => parseTracker({ ...tracker, schema: 2 })).toThrow('the schema of a tracker must be 1');
    expect(() => parseTracker({ ...tracker, n: 7 })).toThrow('n must be the sum of n1 and n0');
    expect(() => parseTracker({ ...tracker, S1: Number.NaN })).toThrow('S1 must be finite');
    expect(() => parseCertificate({ ...certificate, schema: 0 })).toThrow(
      'the schema of a certificate must be 1',
    );
    expect(() => parseCertificate({ ...certificate, weight: 0.3 })).toThrow('weight must be 0');
    expect(() => parseCertificate({ ...certificate, reasons: ['bored'] })).toThrow(
      'reasons[0] must be one of',
    );
  });
});

describe('hyperparameters', () => {
  test('the paper preset is in range and is what METHOD section 0 says', () => {
    expect(checkHyperparameters(paperHyperparameters)).toBe(paperHyperparameters);
    expect(paperHyperparameters).toMatchObject({
      ...{ certifier: 'default', vetoBlocksFallback: true, blockFallbackAfter: null, normaliser: 'max1' },
      ...{ verifierScoreMode: 'signed', returnNorm: 'sum', votes: 3, orderGuard: false },
      ...{ recalibrationGuard: false, polarityMismatch: 'resign', lossNorm: 'token' },
      ...{ epsLow: 0.2, epsHigh: 0.2, kl: 0, beta: 0.15, gamma: 0.95, growEverySteps: 60 },
    });
  });

  test('any numeric value out of its range is refused by name', () => {
    const numeric = Object.entries(paperHyperparameters).flatMap(([name, value]) =>
      typeof value === 'number' ? [name] : [],
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...numeric),
        fc.constantFrom(-1, Number.NaN, Number.POSITIVE_INFINITY),
        (name, bad) => {
          expect(() => checkHyperparameters({ ...paperHyperparameters, [name]: bad })).toThrow(
            `${name} must be`,
          );
        },
      ),
      cases,
    );
  });

  test.each<[Partial<Hyperparameters>, string]>([
    [{ votes: 4 }, 'votes must be odd'],
    [{ quorum: 9 }, 'quorum must be from 2 to groupSize'],
    [{ bins: 40 }, 'bins must be odd'],
    [{ grid: [0.2, 1] }, 'grid must be between 0 and 1'],
    [{ grid: [] }, 'grid must be at least one bet'],
    [{ alphaStar: 0 }, 'alphaStar must be above 0'],
    [{ growMinQuestions: 6 }, 'growMinQuestions must be at most'],
    [{ rolloutBudget: 0 }, 'rolloutBudget must be at least 1'],
    [{ blockFallbackAfter: -1 }, 'blockFallbackAfter must be'],
  ])('%j is refused', (change, message) => {
    expect(() => checkHyperparameters({ ...paperHyperparameters, ...change })).toThrow(message);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainLift } from '../../../workflows/method/lift.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';
import { recalibrate, recalibratedLift } from '../../../workflows/method/recalibrate.ts';
import { cases, cell, paper, polarity, score } from './arbitraries.ts';
import { expectClose } from './close.ts';

const sample = fc.array(
  fc.record({ taskId: fc.constantFrom('t1', 't2', 't3'), pYes: score, passed: fc.boolean() }),
  { maxLength: 20 },
);
const smallSample = sample.map((rollouts) => rollouts.slice(0, 6));
const random = () => randomGenerator(['test']);

describe('recalibration (METHOD 7)', () => {
  test('weight is the lift from the floor on, and 0 below it or without one of the classes', () => {
    fc.assert(
      fc.property(polarity, sample, (declared, rollouts) => {
        const { certificate, polarity: sign } = recalibrate(
          { ...cell, polarity: declared },
          rollouts,
          paper,
          random(),
        );
        const lift = recalibratedLift(rollouts);
        const certified = lift !== null && Math.abs(lift) >= 0.02;
        expect(certificate.weight).toBe(certified ? lift : 0);
        expect(certificate.reasons.length === 0).toBe(certified);
        expect(sign).toBe(certified ? Math.sign(lift) : declared);
      }),
      cases,
    );
  });

  test('under veto a question whose declared sign is contradicted has weight 0, others are as under resign', () => {
    fc.assert(
      fc.property(polarity, sample, (declared, rollouts) => {
        const question = { ...cell, polarity: declared };
        const resigned = recalibrate(question, rollouts, paper, random());
        const vetoed = recalibrate(question, rollouts, { ...paper, polarityMismatch: 'veto' }, random());
        const weight = resigned.mismatch ? 0 : resigned.certificate.weight;
        expect(vetoed.certificate.weight).toBe(weight);
      }),
      cases,
    );
  });

  test('it is not the training lift: for hard answers it is r(1-r)/(mu(1-mu)) times it', () => {
    const hard = fc.array(fc.record({ pYes: fc.constantFrom(0, 1), passed: fc.boolean() }), { minLength: 2 });
    fc.assert(
      fc.property(hard, (rollouts) => {
        const trained = plainLift(rollouts.map((r) => ({ pYes: r.pYes, judge: r.passed ? 1 : 0 })));
        const measured = recalibratedLift(rollouts);
        fc.pre(trained !== null && measured !== null);
        const share = (hits: number): number => (hits / rollouts.length) * (1 - hits / rollouts.length);
        const answers = share(rollouts.filter((r) => r.pYes === 1).length);
        const verdicts = share(rollouts.filter((r) => r.passed).length);
        expectClose(measured, ((trained ?? 0) * answers) / verdicts);
      }),
      cases,
    );
  });

  test('the guard only ever removes certificates, and gives equal p-values for equal seeds', () => {
    fc.assert(
      fc.property(smallSample, (rollouts) => {
        const question = { ...cell, polarity: 1 } as const;
        const guarded = { ...paper, recalibrationGuard: true };
        const [first, again] = [1, 2].map(() => recalibrate(question, rollouts, guarded, random()));
        const stated = recalibrate(question, rollouts, paper, random());
        expect(again).toEqual(first);
        if (first?.certificate.reasons.length === 0) expect(stated.certificate.reasons).toEqual([]);
        const credible = (first?.pValue ?? 1) <= 0.1;
        expect(first?.certificate.reasons.includes('evidence') ?? true).toBe(
          first?.pValue !== null && !credible,
        );
      }),
      cases,
    );
  });

  test('verdicts are permuted within tasks: a difference between tasks alone is not credible', () => {
    const betweenTasks = Array.from({ length: 40 }, (_, i) => ({
      taskId: `t${i % 20}`,
      pYes: i % 20 < 10 ? 0.9 : 0.1,
      passed: i % 20 < 10,
    }));
    const withinTasks = Array.from({ length: 40 }, (_, i) => ({
      taskId: `t${i % 20}`,
      pYes: i < 20 ? 0.9 : 0.1,
      passed: i < 20,
    }));
    const pValueOf = (rollouts: typeof betweenTasks) =>
      recalibrate({ ...cell, polarity: 1 }, rollouts, { ...paper, recalibrationGuard: true }, random())
        .pValue;
    expect(pValueOf(betweenTasks)).toBe(1);
    expect(pValueOf(withinTasks)).toBe(0.001);
  });
});

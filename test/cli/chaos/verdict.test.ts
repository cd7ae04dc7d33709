import { expect, test } from 'vitest';
import type { Strike } from '../../../cli/chaos/storm.ts';
import { judgeStorm, type Outcome } from '../../../cli/chaos/verdict.ts';

const calm: Outcome = {
  result: {
    arms: [{ name: 'base', rate: 0.5 }],
    selection: [],
    digests: { bank: 'b'.repeat(64), adapter: 'a'.repeat(64), selections: 's'.repeat(64) },
  },
  record: {
    rollouts: [{ id: 'r0', trajectoryDigest: 't0', outcome: 'success' }],
    adapters: [{ runId: 'run', shard: 0, step: 0, batchDigest: 'batch', digest: 'adapter' }],
    trainingSteps: [{ runId: 'run', shard: 0, step: 0, outcome: 'updated', adapterDigest: 'adapter' }],
    ...{ calls: 10, repeatedCalls: 0, runAgain: 0, deadAttempts: 0 },
  },
  paidRequests: null,
};

const strike: Strike = {
  ...{ victim: 'Temporal', phase: 'rollouts', activity: 'rollOut', pid: 1, working: ['rollOut'] },
  ...{ begun: '3 browser steps recorded', callsInFlight: 2, recoveryMs: 4_000 },
  finished: new Map([['r0', 't0']]),
};

const broken = (struck: Partial<Outcome['record']>, strikes: readonly Strike[] = [strike], outcome = calm) =>
  judgeStorm(calm, { ...outcome, record: { ...outcome.record, ...struck } }, strikes, [])
    .filter(({ holds }) => !holds)
    .map(({ claim }) => claim);

test('a storm that changed nothing breaks nothing', () => {
  expect(broken({})).toEqual([]);
});

test('each kind of difference breaks its own claim', () => {
  const other = { id: 'r0', trajectoryDigest: 't1', outcome: 'success' };
  expect(broken({ rollouts: [other] })).toEqual([
    'trajectory of every rollout: as in the undisturbed run',
    'no finished rollout was lost or changed',
  ]);
  expect(broken({ adapters: [] })).toEqual(['optimiser step, applied once: as in the undisturbed run']);
  expect(broken({ runAgain: 1 })).toEqual(['no finished rollout was run again']);
  expect(broken({}, [{ ...strike, recoveryMs: null }])).toEqual(['work went on after every strike']);
  const result = { ...calm.result, digests: { ...calm.result.digests, adapter: 'c'.repeat(64) } };
  expect(broken({}, [strike], { ...calm, result })).toEqual(['adapter digest: as in the undisturbed run']);
});

test('as many paid calls may be repeated as were in flight, counted in the journal and at the model servers', () => {
  const claim = ['paid calls repeated ≤ calls in flight at the strikes'];
  expect(broken({ repeatedCalls: 2 })).toEqual([]);
  expect(broken({ repeatedCalls: 3 })).toEqual(claim);
  expect(broken({ calls: 12 })).toEqual([]);
  expect(broken({ calls: 12, repeatedCalls: 1 })).toEqual(claim);
  const undisturbed = { ...calm, paidRequests: 10 };
  const claimsOf = (paidRequests: number) =>
    judgeStorm(undisturbed, { ...calm, paidRequests }, [strike], [])
      .filter(({ holds }) => !holds)
      .map((check) => check.claim);
  expect(claimsOf(12)).toEqual([]);
  expect(claimsOf(13)).toEqual(claim);
});

test('a command that gave up by itself breaks a claim', () => {
  const checks = judgeStorm(calm, calm, [strike], ['the database went away']);
  expect(checks.filter(({ holds }) => !holds).map(({ claim }) => claim)).toEqual([
    'the command never gave up by itself',
  ]);
});

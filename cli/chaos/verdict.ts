/** Compares a job that was struck with one that was not. */
import { isDeepStrictEqual } from 'node:util';
import type { JobResult } from './job.ts';
import type { JobRecord } from './record.ts';
import type { Strike } from './storm.ts';

export interface Outcome {
  readonly result: JobResult;
  readonly record: JobRecord;
  /** Requests that arrived at the model servers; null where the models are embedded. */
  readonly paidRequests: number | null;
}

export interface Check {
  readonly claim: string;
  readonly holds: boolean;
  readonly detail: string;
}

/** Every claim of DESIGN 1 that a storm could break, each with what was found. */
export function judgeStorm(
  calm: Outcome,
  struck: Outcome,
  strikes: readonly Strike[],
  surrenders: readonly string[],
): readonly Check[] {
  return [
    same('bank digest', calm.result.digests.bank, struck.result.digests.bank),
    same('adapter digest', calm.result.digests.adapter, struck.result.digests.adapter),
    same('selections', calm.result.digests.selections, struck.result.digests.selections),
    same('rates and intervals of every arm', calm.result.arms, struck.result.arms),
    sameRows('trajectory of every rollout', calm.record.rollouts, struck.record.rollouts),
    sameRows('training step', calm.record.trainingSteps, struck.record.trainingSteps),
    sameRows('optimiser step, applied once', calm.record.adapters, struck.record.adapters),
    nothingLost(struck, strikes),
    {
      claim: 'no finished rollout was run again',
      holds: struck.record.runAgain === 0,
      detail: `${struck.record.runAgain} attempts or steps after a finish`,
    },
    paidOnce(calm, struck, strikes),
    {
      claim: 'work went on after every strike',
      holds: strikes.every(({ recoveryMs }) => recoveryMs !== null),
      detail: `${strikes.filter(({ recoveryMs }) => recoveryMs === null).length} of ${strikes.length} without recovery`,
    },
    {
      claim: 'the command never gave up by itself',
      holds: surrenders.length === 0,
      detail: surrenders.join('; ') || 'it ended when it was killed, and when it was done',
    },
  ];
}

function same(what: string, calm: unknown, struck: unknown): Check {
  const holds = isDeepStrictEqual(calm, struck);
  const shown = (value: unknown) => (typeof value === 'string' ? value.slice(0, 12) : JSON.stringify(value));
  return {
    claim: `${what}: as in the undisturbed run`,
    holds,
    detail: holds ? `${shown(struck)}`.slice(0, 60) : `${shown(calm)} became ${shown(struck)}`,
  };
}

function sameRows(what: string, calm: readonly object[], struck: readonly object[]): Check {
  const differing = struck.filter((row, index) => !isDeepStrictEqual(row, calm[index]));
  const holds = differing.length === 0 && calm.length === struck.length;
  const first = differing[0] === undefined ? '' : `, first ${JSON.stringify(differing[0])}`;
  return {
    claim: `${what}: as in the undisturbed run`,
    holds,
    detail: holds
      ? `${struck.length} rows`
      : `${differing.length} of ${struck.length} rows differ from ${calm.length}${first}`,
  };
}

function nothingLost({ record }: Outcome, strikes: readonly Strike[]): Check {
  const kept = new Map(record.rollouts.map(({ id, trajectoryDigest }) => [id, trajectoryDigest]));
  const seen = new Map(strikes.flatMap(({ finished }) => [...finished]));
  const lost = [...seen].filter(([id, digest]) => kept.get(id) !== digest);
  return {
    claim: 'no finished rollout was lost or changed',
    holds: lost.length === 0,
    detail: `${lost.length} of ${seen.size} that had finished before a strike`,
  };
}

/**
 * Counted twice: in the journal, where the calls of an attempt that began anew have keys of their own, and by what
 * arrived at the model servers beyond what arrived undisturbed.
 */
function paidOnce(calm: Outcome, { record, paidRequests }: Outcome, strikes: readonly Strike[]): Check {
  const atServers = paidRequests === null ? 0 : paidRequests - (calm.paidRequests ?? 0);
  const inJournal = record.repeatedCalls + Math.max(0, record.calls - calm.record.calls);
  const repeated = Math.max(inJournal, atServers);
  const allowed = strikes.reduce((sum, { callsInFlight }) => sum + callsInFlight, 0);
  const counted =
    paidRequests === null ? '' : `; at the model servers ${paidRequests}, undisturbed ${calm.paidRequests}`;
  return {
    claim: 'paid calls repeated ≤ calls in flight at the strikes',
    holds: repeated <= allowed,
    detail: `${repeated} ≤ ${allowed}, of ${record.calls} calls in the journal${counted}`,
  };
}

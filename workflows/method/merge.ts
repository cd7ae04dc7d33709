import { invalid } from './checks.ts';
import type { Cell, CertifierConstants, Tracker } from './types.ts';

/** What one shard brings to the merge. */
export interface ShardTrackers {
  readonly shard: string;
  /** Groups that these trackers saw: shards that share one are not independent bets. */
  readonly groupIds: readonly string[];
  readonly trackers: readonly Tracker[];
}

/**
 * METHOD 5.5: one tracker per (question, version, polarity, tier key), sorted by that key. Refuses shards that saw
 * the same group: the product of their bets would no longer be an e-value.
 */
export function mergeShards(
  shards: readonly ShardTrackers[],
  constants: Pick<CertifierConstants, 'alphaStar'>,
): Tracker[] {
  refuseSharedGroups(shards);
  const byIdentity = Map.groupBy(
    shards.flatMap((shard) => shard.trackers),
    identityOf,
  );
  return [...byIdentity]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, trackers]) => mergeTrackers(trackers, constants));
}

/**
 * METHOD 5.5: pools trackers of one cell that saw different groups. Additive fields equal those of the pooled
 * groups, decayed sums count age in each shard's own updates, and alpha, which has no exact pooled value, is the
 * mean weighted by the forecasts made.
 */
export function mergeTrackers(
  trackers: readonly Tracker[],
  constants: Pick<CertifierConstants, 'alphaStar'>,
): Tracker {
  const [first, ...rest] = trackers;
  if (first === undefined) invalid('trackers', 'empty', 'at least one tracker');
  for (const other of rest) {
    if (identityOf(other) !== identityOf(first)) {
      invalid('the identity of a merged tracker', identityOf(other), identityOf(first));
    }
  }
  const forecasts = sum(trackers, (t) => t.aciT);
  const levels = sum(trackers, (t) => t.aciT * t.alpha);
  return {
    ...first,
    ...sumFields(trackers),
    alpha: forecasts > 0 ? levels / forecasts : constants.alphaStar,
  };
}

type Sums = Omit<Tracker, keyof Cell | 'schema' | 'polarity' | 'alpha'>;
type SummedList = 'logWp' | 'logWm' | 'hist';
type Summed = Exclude<keyof Sums, SummedList>;

function sumFields(trackers: readonly Tracker[]): Sums {
  const total = (field: Summed): number => sum(trackers, (t) => t[field]);
  const totals = (field: SummedList): number[] =>
    (trackers[0]?.[field] ?? []).map((_, i) => sum(trackers, (t) => t[field][i] ?? 0));
  return {
    n: total('n'),
    n1: total('n1'),
    n0: total('n0'),
    S1: total('S1'),
    S0: total('S0'),
    groups: total('groups'),
    informative: total('informative'),
    sumC: total('sumC'),
    sumV: total('sumV'),
    agreeErr: total('agreeErr'),
    ewN1: total('ewN1'),
    ewN0: total('ewN0'),
    ewS1: total('ewS1'),
    ewS0: total('ewS0'),
    ewX: total('ewX'),
    ewQ: total('ewQ'),
    aciT: total('aciT'),
    aciErr: total('aciErr'),
    logWp: totals('logWp'),
    logWm: totals('logWm'),
    hist: totals('hist'),
  };
}

function sum(trackers: readonly Tracker[], value: (tracker: Tracker) => number): number {
  return trackers.reduce((total, tracker) => total + value(tracker), 0);
}

const identityOf = ({ qid, version, polarity, key }: Tracker): string =>
  JSON.stringify([qid, version, polarity, key]);

function refuseSharedGroups(shards: readonly ShardTrackers[]): void {
  const seenBy = new Map<string, string>();
  for (const { shard, groupIds } of shards) {
    for (const groupId of new Set(groupIds)) {
      const other = seenBy.get(groupId);
      if (other !== undefined)
        invalid(`the shard of group ${groupId}`, `${other} and ${shard}`, 'a single one');
      seenBy.set(groupId, shard);
    }
  }
}

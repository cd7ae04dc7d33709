import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeShards, mergeTrackers } from '../../../workflows/method/merge.ts';
import type { Tracker } from '../../../workflows/method/types.ts';
import { cases, history, informativeHistory, paper, sign, track } from './arbitraries.ts';
import { expectClose } from './close.ts';

const shard = fc.oneof(history, informativeHistory);
const merge = (...trackers: Tracker[]): Tracker => mergeTrackers(trackers, paper);

/** What no merge can recover: the order of all groups, and the warm-up that each shard had for itself. */
const withoutOrder = ({
  alpha: _a,
  aciT: _t,
  aciErr: _e,
  ewN1: _1,
  ewN0: _0,
  ewS1: _s1,
  ewS0: _s0,
  ewX: _x,
  ewQ: _q,
  ...rest
}: Tracker) => rest;

describe('merging trackers of disjoint groups (METHOD 5.5)', () => {
  test('additive fields equal those of the pooled groups', () => {
    fc.assert(
      fc.property(sign, shard, shard, (sign, left, right) => {
        const merged = merge(track(sign, left), track(sign, right));
        expectClose(withoutOrder(merged), withoutOrder(track(sign, [...left, ...right])));
      }),
      cases,
    );
  });

  test('it is commutative and associative in every field', () => {
    fc.assert(
      fc.property(sign, shard, shard, shard, (sign, a, b, c) => {
        const [x, y, z] = [track(sign, a), track(sign, b), track(sign, c)];
        expectClose(merge(y, x), merge(x, y));
        expectClose(merge(merge(x, y), z), merge(x, merge(y, z)));
        expectClose(merge(x, y, z), merge(merge(x, y), z));
      }),
      cases,
    );
  });

  test('alpha is the mean weighted by the forecasts made, and alpha* where none was', () => {
    fc.assert(
      fc.property(sign, shard, shard, (sign, a, b) => {
        const [x, y] = [track(sign, a), track(sign, b)];
        const { alpha, aciT } = merge(x, y);
        expect(aciT).toBe(x.aciT + y.aciT);
        expectClose(alpha, aciT === 0 ? 0.1 : (x.aciT * x.alpha + y.aciT * y.alpha) / aciT);
      }),
      cases,
    );
  });

  test('trackers of different polarity, question or key are refused', () => {
    const tracker = track(1, [[{ pYes: 1, judge: 0.5 }]]);
    for (const other of [
      { polarity: -1 },
      { qid: 'other' },
      { version: 2 },
      { key: 'h:a.example' },
    ] as const) {
      expect(() => merge(tracker, { ...tracker, ...other })).toThrow('identity of a merged tracker');
    }
  });

  test('shards that saw the same group are refused with its name', () => {
    const shards = ['s0', 's1'].map((name) => ({ shard: name, groupIds: ['g1', `g-${name}`], trackers: [] }));
    expect(() => mergeShards(shards, paper)).toThrow(
      'the shard of group g1 must be a single one, but is s0 and s1',
    );
  });

  test('the order of the shards does not change the merged bank', () => {
    fc.assert(
      fc.property(shard, shard, (a, b) => {
        const host = { tier: 'host', key: 'h:a.example' } as const;
        const left = { shard: 's0', groupIds: ['g0'], trackers: [track(1, a), { ...track(-1, a), ...host }] };
        const right = {
          shard: 's1',
          groupIds: ['g1'],
          trackers: [{ ...track(-1, b), ...host }, track(1, b)],
        };
        const merged = mergeShards([left, right], paper);
        expect(merged.map((t) => t.key)).toEqual(['h:a.example', '*']);
        expectClose(mergeShards([right, left], paper), merged);
      }),
      cases,
    );
  });
});

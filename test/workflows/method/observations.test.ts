import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { observationsByCell } from '../../../workflows/method/observations.ts';
import type { Observation } from '../../../workflows/method/types.ts';
import { cases, score } from './arbitraries.ts';
import { expectClose } from './close.ts';

const answers: fc.Arbitrary<Observation[]> = fc.array(
  fc.record({
    qid: fc.constantFrom('q1', 'q2'),
    version: fc.constantFrom(1, 2),
    groupId: fc.constantFrom('g1', 'g2'),
    rolloutId: fc.constantFrom('r1', 'r2', 'r3'),
    pYes: score,
    url: fc
      .tuple(fc.constantFrom('a.example', 'b.example'), fc.constantFrom('x', 'y'))
      .map(([hostKey, page]) => ({ hostKey, pathKey: `${hostKey}/${page}` })),
    judge: fc.constant(0.5),
  }),
  { maxLength: 20 },
);

describe('observations (METHOD 1.1)', () => {
  test('one rollout gives a tracker at most one observation of a group: the mean of its answers there', () => {
    fc.assert(
      fc.property(answers, (given) => {
        const cells = observationsByCell(given);
        const identities = cells.map((c) => JSON.stringify([c.groupId, c.qid, c.version, c.key]));
        expect(new Set(identities).size).toBe(cells.length);
        for (const found of cells) {
          const here = given.filter(
            (o) =>
              o.groupId === found.groupId &&
              o.qid === found.qid &&
              o.version === found.version &&
              ['*', `h:${o.url.hostKey}`, `p:${o.url.pathKey}`].includes(found.key),
          );
          const means = [...Map.groupBy(here, (o) => o.rolloutId).values()].map(
            (own) => own.reduce((sum, o) => sum + o.pYes, 0) / own.length,
          );
          expectClose(
            found.observations.map((o) => o.pYes),
            means,
          );
        }
      }),
      cases,
    );
  });

  test('every answer reaches its path, host and global cell', () => {
    fc.assert(
      fc.property(answers, (given) => {
        const keys = new Set(
          observationsByCell(given).map((c) => `${c.groupId} ${c.qid}@${c.version} ${c.key}`),
        );
        for (const o of given) {
          for (const key of ['*', `h:${o.url.hostKey}`, `p:${o.url.pathKey}`]) {
            expect(keys).toContain(`${o.groupId} ${o.qid}@${o.version} ${key}`);
          }
        }
      }),
      cases,
    );
  });

  test('an answer out of range is refused by name', () => {
    const url = { hostKey: 'a', pathKey: 'a/' };
    const bad = { qid: 'q', version: 1, groupId: 'g', rolloutId: 'r', pYes: 1.2, url, judge: 0.5 };
    expect(() => observationsByCell([bad])).toThrow('pYes must be from 0 to 1');
  });
});

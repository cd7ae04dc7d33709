import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify } from '../../../workflows/method/certify.ts';
import { mergeBanks } from '../../../workflows/method/merge-banks.ts';
import { repairPolarity, shouldRetire } from '../../../workflows/method/repair.ts';
import type { Question, TrainedCertificate } from '../../../workflows/method/types.ts';
import { cases, informativeHistory, paper, polarity, track } from './arbitraries.ts';

const question: Question = {
  ...{ id: 'q', version: 1, text: 'Is the cart empty?', scope: '*', polarity: 1, status: 'candidate' },
  provenance: { source: 'seed' },
};
const certificateOf = (sign: 1 | -1 | 0, groups: Parameters<typeof track>[1]): TrainedCertificate =>
  certify(track(sign, groups), paper);

describe('polarity repair (METHOD 5.4)', () => {
  test('exactly a hard veto at the global key, or strong evidence on a neutral question, makes a successor', () => {
    fc.assert(
      fc.property(polarity, fc.boolean(), informativeHistory, (sign, reversed, history) => {
        const groups = reversed ? history.map((g) => g.map((o) => ({ ...o, pYes: 1 - o.pYes }))) : history;
        const certificate = certificateOf(sign, groups);
        const repair = repairPolarity({ ...question, polarity: sign }, certificate, 1, paper);
        const strong =
          certificate.n >= 50 && Math.max(certificate.logE, certificate.logEminus) >= Math.log(10) - 1e-12;
        expect(repair !== null).toBe(sign === 0 ? strong : certificate.vetoed);
        if (repair === null) return;
        expect(repair.retiredSign).toMatchObject({ version: 1, polarity: 0, status: 'neutral' });
        expect(repair.successor).toMatchObject({ version: 2, status: 'candidate' });
        expect(repair.successor.provenance).toEqual({ source: 'repair', parent: 'q@1' });
        const supported = certificate.logE > certificate.logEminus ? 1 : -1;
        expect(repair.successor.polarity).toBe(sign === 0 ? supported : -sign);
      }),
      cases,
    );
  });

  test('a successor with fresh trackers certifies where the wrong sign was vetoed', () => {
    fc.assert(
      fc.property(informativeHistory, (groups) => {
        const wrong = certificateOf(-1, groups);
        fc.pre(wrong.vetoed);
        const repair = repairPolarity({ ...question, polarity: -1 }, wrong, 1, paper);
        expect(repair?.successor.polarity).toBe(1);
        expect(certificateOf(1, groups).logE).toBe(wrong.logEminus);
      }),
      cases,
    );
  });

  test('an older version, or a retired question, is never repaired', () => {
    const vetoed: TrainedCertificate = { ...certificateOf(1, []), vetoed: true, n: 50 };
    expect(repairPolarity(question, vetoed, 2, paper)).toBeNull();
    expect(repairPolarity({ ...question, status: 'retired' }, vetoed, 1, paper)).toBeNull();
    expect(repairPolarity(question, vetoed, 1, paper)).not.toBeNull();
  });
});

describe('retirement (METHOD 5.4)', () => {
  test('needs 400 observations at the global key, no certificate ever, and no lift at any tier', () => {
    const lift = fc.option(fc.integer({ min: -40, max: 40 }).map((n) => n / 1000));
    fc.assert(
      fc.property(
        fc.integer({ min: 380, max: 420 }),
        lift,
        lift,
        fc.boolean(),
        (n, global, host, everCertified) => {
          const base = certificateOf(1, []);
          const certificates: TrainedCertificate[] = [
            { ...base, n, lift: global },
            { ...base, tier: 'host', key: 'h:a.example', n: 10, lift: host },
          ];
          const useless = Math.abs(global ?? 0) < 0.02 && Math.abs(host ?? 0) < 0.02;
          expect(shouldRetire(certificates, everCertified, paper)).toBe(
            n >= 400 && useless && !everCertified,
          );
        },
      ),
      cases,
    );
  });
});

describe('merging the banks of shards (METHOD 5.5)', () => {
  const shard = (name: string, questions: Question[], trackers: ReturnType<typeof track>[]) => ({
    ...{ shard: name, groupIds: [`group of ${name}`], questions, trackers },
  });

  test('equal text becomes one question and its trackers are pooled under the smallest id', () => {
    fc.assert(
      fc.property(informativeHistory, informativeHistory, (left, right) => {
        const other = { ...question, id: 'p', text: 'Is the CART empty' };
        const merged = mergeBanks(
          [
            shard('s0', [question], [track(1, left)]),
            shard('s1', [other], [{ ...track(1, right), qid: 'p' }]),
          ],
          paper,
        );
        expect(merged.questions.map(({ id, status }) => [id, status])).toEqual([['p', 'candidate']]);
        expect(merged.trackers).toHaveLength(1);
        expect(merged.trackers[0]?.n).toBe(track(1, left).n + track(1, right).n);
      }),
      cases,
    );
  });

  test('of two signs of one text the one with the larger E stays, the other is retired', () => {
    fc.assert(
      fc.property(informativeHistory, (groups) => {
        const flipped: Question = { ...question, version: 2, polarity: -1 };
        const shards = [
          shard('s0', [question], [track(1, groups)]),
          shard('s1', [flipped], [{ ...track(-1, groups), version: 2 }]),
        ];
        const { questions, trackers } = mergeBanks(shards, paper);
        const [plus, minus] = [certificateOf(1, groups).logE, certificateOf(-1, groups).logE];
        fc.pre(plus !== minus);
        expect(trackers).toHaveLength(2);
        expect(questions.map((q) => q.status)).toEqual(
          plus > minus ? ['candidate', 'retired'] : ['retired', 'candidate'],
        );
        expect(mergeBanks(shards.toReversed(), paper).questions).toEqual(questions);
      }),
      cases,
    );
  });

  test('texts of different scope stay apart, and no question version appears twice', () => {
    const elsewhere = { ...question, id: 'p', scope: 'a.example/*' };
    const neutral: Question = { ...question, polarity: 0, status: 'neutral' };
    const { questions } = mergeBanks(
      [shard('s0', [question, elsewhere], []), shard('s1', [neutral], [])],
      paper,
    );
    expect(questions.map(({ id, polarity: sign }) => [id, sign])).toEqual([
      ['p', 1],
      ['q', 1],
    ]);
  });
});

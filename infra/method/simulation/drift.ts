import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { beside, type Experiment, largestGap, resultOf, share, time } from './experiment.ts';
import { type GroupGenerator, type JudgeKind, questionGroups } from './generators.ts';
import { advance, certifiedBy, freshTracker, lastObservation, quantile, streamOf } from './replicate.ts';
import { lineChart } from './svg.ts';

const replicates = 800;
const tolerance = 0.08;
const changeAt = 1000;
const after = [100, 200, 400, 600, 1000] as const;
const rules = ['default', 'naive'] as const;

interface Held {
  readonly atChange: number;
  /** Among those certified at the change. */
  readonly medianToLose: number | null;
  readonly later: readonly number[];
}

type Result = Readonly<Record<(typeof rules)[number], Held>>;

interface Row {
  readonly judge: JudgeKind;
  readonly lift: number;
  readonly becomes: 'zero' | 'flipped';
  /** METHOD 3.4, rule (D): certified at the change and after. */
  readonly table: readonly [atChange: number, ...later: number[]];
}

const row = (judge: JudgeKind, lift: number, becomes: Row['becomes'], table: Row['table']): [string, Row] => [
  `${judge} ${lift.toFixed(2)} ${becomes}`,
  { judge, lift, becomes, table },
];

const rows = new Map([
  row('graded', 0.13, 'zero', [0.994, 0.86, 0.73, 0.3, 0.14, 0.06]),
  row('graded', 0.13, 'flipped', [0.994, 0.32, 0.01, 0, 0, 0]),
  row('graded', 0.3, 'zero', [0.995, 0.35, 0.11, 0.03, 0.04, 0.05]),
  row('graded', 0.3, 'flipped', [0.995, 0.01, 0, 0, 0, 0]),
  row('graded', 0.5, 'zero', [0.998, 0.12, 0.02, 0.01, 0.03, 0.06]),
  row('graded', 0.5, 'flipped', [0.998, 0, 0, 0, 0, 0]),
  row('binary', 0.13, 'zero', [0.943, 0.83, 0.64, 0.32, 0.19, 0.1]),
  row('binary', 0.13, 'flipped', [0.943, 0.48, 0.08, 0, 0, 0]),
  row('binary', 0.3, 'zero', [0.997, 0.92, 0.78, 0.43, 0.24, 0.11]),
  row('binary', 0.3, 'flipped', [0.997, 0.43, 0.02, 0, 0, 0]),
  row('binary', 0.5, 'zero', [0.998, 0.68, 0.29, 0.1, 0.07, 0.06]),
  row('binary', 0.5, 'flipped', [0.998, 0.06, 0, 0, 0, 0]),
]);

/** METHOD 3.4: a question that certified and then loses its lift, or turns against its polarity. */
export const drift: Experiment<Result> = {
  name: 'drift',
  rows: [...rows.keys()],

  run(name) {
    const { judge, lift, becomes } = resultOf(rows, name);
    const before = questionGroups({ judge, lift });
    const later = questionGroups({ judge, lift: becomes === 'zero' ? 0 : -lift });
    const histories = Array.from({ length: replicates }, (_, m) =>
      lookAfterChange(before, later, streamOf('drift', name, m)),
    );
    return { default: held(histories.map((h) => h.default)), naive: held(histories.map((h) => h.naive)) };
  },

  report(results) {
    const read = [...rows].map(([name, { table }]) => ({ name, table, found: resultOf(results, name) }));
    const offsets = after.map((n) => `+${n}`);
    return {
      title: 'Drift (METHOD 3.4)',
      generator: `METHOD 3's model; from n = ${changeAt} on the lift is 0 or has the other sign.`,
      tables: [
        {
          title: 'Still or again certified after the change, in brackets METHOD 3.4 rule (D)',
          note: `${replicates} replicates, among those certified at the change; naive uses the decayed lift.`,
          header: ['question and change', 'rule', 'at change', 'median to lose it', ...offsets],
          rows: read.flatMap(({ name, table, found }) => [
            [
              name,
              'default',
              beside(found.default.atChange, table[0]),
              time(found.default.medianToLose, '>1000'),
              ...found.default.later.map((value, i) => beside(value, table[i + 1] ?? Number.NaN)),
            ],
            [
              name,
              'naive',
              share(found.naive.atChange),
              time(found.naive.medianToLose, '>1000'),
              ...found.naive.later.map(share),
            ],
          ]),
        },
      ],
      charts: [
        {
          file: 'drift.svg',
          svg: lineChart({
            title: 'P(still certified) after the lift is gone',
            x: [0, ...after],
            logarithmic: false,
            series: ['graded 0.30 zero', 'binary 0.30 zero'].flatMap((name) =>
              rules.map((rule) => ({
                name: `${rule}, ${name}`,
                values: [1, ...resultOf(results, name)[rule].later],
              })),
            ),
          }),
        },
      ],
      claims: read.flatMap(({ name, table, found }) => [
        {
          text: `${name}: the default rule is within ${tolerance} of METHOD's table everywhere`,
          holds: largestGap([found.default.atChange, ...found.default.later], table) <= tolerance,
        },
        {
          text: `${name}: it lets go sooner than the naive rule`,
          holds:
            (found.default.medianToLose ?? Number.POSITIVE_INFINITY) <
            (found.naive.medianToLose ?? Number.POSITIVE_INFINITY),
        },
      ]),
    };
  },
};

/** One rule's certificate at every look from the change on, starting with the change itself. */
type Looks = readonly boolean[];

function lookAfterChange(
  before: GroupGenerator,
  later: GroupGenerator,
  random: RandomGenerator,
): Record<(typeof rules)[number], Looks> {
  let tracker = freshTracker(1);
  while (tracker.n < changeAt) tracker = advance(tracker, before, random);
  const looks = { default: [certifiedBy('default')(tracker)], naive: [certifiedBy('naive')(tracker)] };
  while (tracker.n < lastObservation) {
    tracker = advance(tracker, later, random);
    for (const rule of rules) looks[rule].push(certifiedBy(rule)(tracker));
  }
  return looks;
}

function held(histories: readonly Looks[]): Held {
  const certified = histories.filter((looks) => looks[0]);
  const firstLost = certified.map((looks) => {
    const at = looks.indexOf(false);
    return at < 0 ? null : at * 8;
  });
  return {
    atChange: certified.length / histories.length,
    medianToLose: quantile(firstLost, 0.5),
    later: after.map((n) => certified.filter((looks) => looks[Math.ceil(n / 8)]).length / certified.length),
  };
}

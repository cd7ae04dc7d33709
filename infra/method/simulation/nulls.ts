import { wilson } from '../../../workflows/method/rates.ts';
import { type Experiment, resultOf, share } from './experiment.ts';
import { nullScenarios } from './generators.ts';
import { certifiedBy, certifiedNaivelyForEver, firstTimes, streamOf, vetoed } from './replicate.ts';
import { barChart } from './svg.ts';

const replicates = 2000;
const rules = ['default', 'naive', 'naive, cumulative', 'agreement', 'hard veto'] as const;
type Rule = (typeof rules)[number];

/** METHOD 3.1, where its rule is one of these. */
const table: Readonly<Partial<Record<Rule, readonly number[]>>> = {
  default: [0.064, 0.071, 0.06, 0.01, 0.07, 0.036, 0.06, 0.07],
  'naive, cumulative': [0.726, 0.831, 0.8, 0.636, 1, 0.852, 0.775, 0.756],
  'hard veto': [0.069, 0.072, 0.069, 0.009, 0.067, 0.035, 0.065, 0.07],
};

/** Number of replicates in which each rule ever held by n = 2,000. */
type Counts = Readonly<Record<Rule, number>>;

/** METHOD 3.1: useless questions, looked at after every group. */
export const nulls: Experiment<Counts> = {
  name: 'nulls',
  rows: Object.keys(nullScenarios),

  run(row) {
    const scenario = nullScenarios[row];
    if (scenario === undefined) throw new Error(`no null scenario ${row}`);
    const events = [
      certifiedBy('default'),
      certifiedBy('naive'),
      certifiedNaivelyForEver,
      certifiedBy('agreement'),
      vetoed,
    ];
    const counts = { default: 0, naive: 0, 'naive, cumulative': 0, agreement: 0, 'hard veto': 0 };
    for (let m = 0; m < replicates; m++) {
      const times = firstTimes(scenario.groups, 1, streamOf('nulls', row, m), events);
      for (const [i, rule] of rules.entries()) if (times[i] !== null) counts[rule] += 1;
    }
    return counts;
  },

  report(results) {
    const rows = Object.entries(nullScenarios).map(([name, { what }]) => ({
      name,
      what,
      counts: resultOf(results, name),
    }));
    const rate = (hits: number) => wilson(hits, replicates);
    return {
      title: 'Useless questions under continuous looking (METHOD 3.1)',
      generator: rows.map(({ name, what }) => `${name}: ${what}.`).join(' '),
      tables: [
        {
          title: 'Ever certified by n = 2,000',
          note: `${replicates} replicates, with the 95 % Wilson interval, in brackets METHOD 3.1. Naive as shipped uses the decayed lift; METHOD's column agrees with the cumulative one. The hard veto is that of a useless question.`,
          header: ['rule', ...rows.map(({ name }) => name)],
          rows: rules.map((rule) => [
            rule,
            ...rows.map(({ counts }, i) => {
              const { rate: value = 0, low = 0, high = 0 } = rate(counts[rule]) ?? {};
              const inTable = table[rule]?.[i];
              const interval = `${share(value)} [${share(low)}, ${share(high)}]`;
              return inTable === undefined ? interval : `${interval} (${share(inTable)})`;
            }),
          ]),
        },
      ],
      charts: [
        {
          file: 'nulls.svg',
          svg: barChart({
            title: 'P(a useless question is ever certified by n = 2,000)',
            labels: rows.map(({ name }) => name),
            series: (['default', 'naive'] as const).map((rule) => ({
              name: rule,
              values: rows.map(({ counts }) => counts[rule] / replicates),
            })),
            reference: { name: 'alpha* = 0.10', value: 0.1 },
          }),
        },
      ],
      claims: rows.flatMap(({ name, counts }) => [
        {
          text: `${name}: default certifies a useless question with probability at most 0.10 (one-sided, 2.5 %)`,
          holds: (rate(counts.default)?.high ?? 1) <= 0.1,
        },
        {
          text: `${name}: naive does so with probability above 0.5 (one-sided, 2.5 %)`,
          holds: (rate(counts.naive)?.low ?? 0) > 0.5,
        },
        {
          text: `${name}: a useless question is vetoed with probability at most 0.10 (one-sided, 2.5 %)`,
          holds: (rate(counts['hard veto'])?.high ?? 1) <= 0.1,
        },
      ]),
    };
  },
};

import { wilson } from '../../../workflows/method/rates.ts';
import { type Experiment, resultOf, share } from './experiment.ts';
import { nullScenarios } from './generators.ts';
import { certifiedBy, firstTimes, streamOf, vetoed } from './replicate.ts';
import { barChart } from './svg.ts';

const replicates = 2000;
const rules = ['default', 'naive', 'agreement', 'hard veto'] as const;

/** Number of replicates in which each rule ever held by n = 2,000. */
type Counts = Readonly<Record<(typeof rules)[number], number>>;

/** METHOD 3.1: useless questions, looked at after every group. */
export const nulls: Experiment<Counts> = {
  name: 'nulls',
  rows: Object.keys(nullScenarios),

  run(row) {
    const scenario = nullScenarios[row];
    if (scenario === undefined) throw new Error(`no null scenario ${row}`);
    const events = [certifiedBy('default'), certifiedBy('naive'), certifiedBy('agreement'), vetoed];
    const counts = { default: 0, naive: 0, agreement: 0, 'hard veto': 0 };
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
          note: `${replicates} replicates, with the 95 % Wilson interval; the hard veto is that of a useless question.`,
          header: ['rule', ...rows.map(({ name }) => name)],
          rows: rules.map((rule) => [
            rule,
            ...rows.map(({ counts }) => {
              const { rate: value = 0, low = 0, high = 0 } = rate(counts[rule]) ?? {};
              return `${share(value)} [${share(low)}, ${share(high)}]`;
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

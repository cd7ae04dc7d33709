import { beside, type Experiment, largestGap, resultOf } from './experiment.ts';
import { type QuestionModel, questionGroups } from './generators.ts';
import {
  certifiedBy,
  certifiedNaivelyForEver,
  columns,
  firstTimes,
  sharesByColumn,
  streamOf,
  vetoed,
} from './replicate.ts';

const replicates = 2000;
const tolerance = 0.05;

const events = ['naive, cumulative, certifies', 'default certifies', 'hard veto'] as const;

type Shares = Readonly<Record<(typeof events)[number], readonly number[]>>;

interface Row {
  readonly model: QuestionModel;
  readonly table: Shares;
}

const never = [0, 0, 0, 0, 0, 0];

/** METHOD 3.3 (iii): ever, by n. */
const rows: Readonly<Record<string, Row>> = {
  'graded -0.05': {
    model: { judge: 'graded', lift: -0.05 },
    table: {
      'naive, cumulative, certifies': [0.152, 0.227, 0.248, 0.253, 0.253, 0.253],
      'default certifies': [0, 0, 0.001, 0.001, 0.001, 0.001],
      'hard veto': [0.002, 0.069, 0.293, 0.704, 0.932, 0.999],
    },
  },
  'graded -0.13': {
    model: { judge: 'graded', lift: -0.13 },
    table: {
      'naive, cumulative, certifies': [0.013, 0.018, 0.018, 0.018, 0.018, 0.018],
      'default certifies': never,
      'hard veto': [0.054, 0.603, 0.966, 1, 1, 1],
    },
  },
  'graded -0.30': {
    model: { judge: 'graded', lift: -0.3 },
    table: {
      'naive, cumulative, certifies': never,
      'default certifies': never,
      'hard veto': [0.704, 1, 1, 1, 1, 1],
    },
  },
  'binary -0.05': {
    model: { judge: 'binary', lift: -0.05 },
    table: {
      'naive, cumulative, certifies': [0.313, 0.436, 0.497, 0.535, 0.544, 0.546],
      'default certifies': [0, 0.003, 0.006, 0.007, 0.007, 0.007],
      'hard veto': [0.002, 0.033, 0.102, 0.208, 0.355, 0.557],
    },
  },
  'binary -0.13': {
    model: { judge: 'binary', lift: -0.13 },
    table: {
      'naive, cumulative, certifies': [0.126, 0.194, 0.208, 0.211, 0.211, 0.211],
      'default certifies': never,
      'hard veto': [0.009, 0.146, 0.413, 0.794, 0.976, 1],
    },
  },
  'binary -0.30': {
    model: { judge: 'binary', lift: -0.3 },
    table: {
      'naive, cumulative, certifies': [0.011, 0.013, 0.013, 0.013, 0.013, 0.013],
      'default certifies': never,
      'hard veto': [0.133, 0.705, 0.968, 1, 1, 1],
    },
  },
};

/** METHOD 3.3: a question whose declared sign is wrong. */
export const polarity: Experiment<Shares> = {
  name: 'polarity',
  rows: Object.keys(rows),

  run(name) {
    const groups = questionGroups(resultOf(new Map(Object.entries(rows)), name).model);
    const looks = [certifiedNaivelyForEver, certifiedBy('default'), vetoed];
    const times = Array.from({ length: replicates }, (_, m) =>
      firstTimes(groups, 1, streamOf('polarity', name, m), looks),
    );
    const sharesOf = (i: number): number[] => sharesByColumn(times.map((replicate) => replicate[i] ?? null));
    return {
      'naive, cumulative, certifies': sharesOf(0),
      'default certifies': sharesOf(1),
      'hard veto': sharesOf(2),
    };
  },

  report(results) {
    const read = Object.entries(rows).map(([name, row]) => ({ name, row, found: resultOf(results, name) }));
    return {
      title: 'Wrong polarity (METHOD 3.3)',
      generator: "METHOD 3's model with the lift against the declared polarity.",
      tables: [
        {
          title: 'Ever, by n, in brackets METHOD 3.3',
          note: `${replicates} replicates.`,
          header: ['judge and lift', 'event', ...columns.map(String)],
          rows: read.flatMap(({ name, row, found }) =>
            events.map((event) => [
              name,
              event,
              ...found[event].map((value, i) => beside(value, row.table[event][i] ?? Number.NaN)),
            ]),
          ),
        },
      ],
      charts: [],
      claims: read.flatMap(({ name, row, found }) => [
        ...events.map((event) => ({
          text: `${name}: "${event}" is within ${tolerance} of METHOD's table everywhere`,
          holds: largestGap(found[event], row.table[event]) <= tolerance,
        })),
        {
          text: `${name}: the default rule certifies the wrong sign in at most 1 of 50 cases`,
          holds: Math.max(...found['default certifies']) <= 0.02,
        },
      ]),
    };
  },
};

import { decide, incumbentFirst, successAfterComparison } from '../../../workflows/method/selection.ts';
import type { Vote } from '../../../workflows/method/types.ts';
import { beside, type Experiment, largestGap, resultOf } from './experiment.ts';
import { barChart } from './svg.ts';

const m = 3;
const accuracy = 0.7;
const tieRate = 0.15;

const presentations = [
  'fixed order, majority',
  'alternate order, majority',
  'alternate order, order guard',
] as const;
type Presentation = (typeof presentations)[number];

/** P(swap) given that the challenger is better, worse or equal; change in success at pA = pB = 0.60. */
type Outcome = readonly [better: number, worse: number, equal: number, change: number];

/** METHOD 6c, by (share of biased votes, slot) and presentation. */
const table: readonly [bias: number, slot: 1 | 2, outcomes: readonly [Outcome, Outcome, Outcome]][] = [
  [
    0,
    2,
    [
      [0.641, 0.162, 0.388, 0.115],
      [0.641, 0.162, 0.388, 0.115],
      [0.497, 0.113, 0.284, 0.092],
    ],
  ],
  [
    0.2,
    1,
    [
      [0.464, 0.108, 0.268, 0.085],
      [0.564, 0.173, 0.358, 0.094],
      [0.49, 0.148, 0.305, 0.082],
    ],
  ],
  [
    0.2,
    2,
    [
      [0.753, 0.358, 0.56, 0.095],
      [0.665, 0.261, 0.461, 0.097],
      [0.426, 0.132, 0.268, 0.071],
    ],
  ],
  [
    0.4,
    1,
    [
      [0.291, 0.063, 0.162, 0.055],
      [0.475, 0.167, 0.314, 0.074],
      [0.444, 0.156, 0.291, 0.069],
    ],
  ],
  [
    0.4,
    2,
    [
      [0.852, 0.579, 0.725, 0.065],
      [0.704, 0.381, 0.544, 0.078],
      [0.336, 0.122, 0.225, 0.051],
    ],
  ],
  [
    0.7,
    1,
    [
      [0.084, 0.017, 0.045, 0.016],
      [0.29, 0.116, 0.2, 0.042],
      [0.286, 0.114, 0.198, 0.041],
    ],
  ],
  [
    0.7,
    2,
    [
      [0.959, 0.872, 0.921, 0.021],
      [0.81, 0.63, 0.721, 0.043],
      [0.176, 0.073, 0.124, 0.025],
    ],
  ],
  [
    1,
    1,
    [
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ],
  ],
  [
    1,
    2,
    [
      [1, 1, 1, 0],
      [1, 1, 1, 0],
      [0, 0, 0, 0],
    ],
  ],
];

type Outcomes = Readonly<Record<Presentation, Outcome>>;

const rowName = (bias: number, slot: number): string => `${bias.toFixed(1)} to slot ${slot}`;

/** METHOD 6c, exact: a verifier that picks a fixed slot in a share of its votes, whatever the content. */
export const positionBias: Experiment<Outcomes> = {
  name: 'position bias',
  rows: table.map(([bias, slot]) => rowName(bias, slot)),

  run(name) {
    const row = table.find(([bias, slot]) => rowName(bias, slot) === name);
    if (row === undefined) throw new Error(`no bias ${name}`);
    const [bias, slot] = row;
    const outcomeOf = (presentation: Presentation): Outcome => outcome(presentation, bias, slot);
    return {
      'fixed order, majority': outcomeOf('fixed order, majority'),
      'alternate order, majority': outcomeOf('alternate order, majority'),
      'alternate order, order guard': outcomeOf('alternate order, order guard'),
    };
  },

  report(results) {
    const read = table.flatMap(([bias, slot, outcomes]) =>
      presentations.map((presentation, i) => ({
        name: rowName(bias, slot),
        presentation,
        expected: outcomes[i] ?? [],
        found: resultOf(results, rowName(bias, slot))[presentation],
      })),
    );
    const guarded = read.filter(({ presentation }) => presentation === 'alternate order, order guard');
    return {
      title: 'Selection under position bias (METHOD 6c)',
      generator: `Exact enumeration of all votes: accuracy ${accuracy}, ties ${tieRate}, m = ${m}.`,
      tables: [
        {
          title:
            'P(swap) given the challenger better, worse, equal, and the change in success; in brackets METHOD 6c',
          note: 'Independent votes; success of both candidates 0.60.',
          header: ['biased share', 'rule', 'better', 'worse', 'equal', 'change'],
          rows: read.map(({ name, presentation, found, expected }) => [
            name,
            presentation,
            ...found.map((value, i) => beside(value, expected[i] ?? Number.NaN)),
          ]),
        },
      ],
      charts: [
        {
          file: 'position-bias.svg',
          svg: barChart({
            title: 'P(a right incumbent is given up) under position bias',
            labels: table.map(([bias, slot]) => rowName(bias, slot)),
            series: presentations.map((presentation) => ({
              name: presentation,
              values: read.filter((row) => row.presentation === presentation).map(({ found }) => found[1]),
            })),
          }),
        },
      ],
      claims: [
        {
          text: 'every probability equals METHOD 6c to its three digits',
          holds: read.every(({ found, expected }) => largestGap(found, expected) <= 0.0005 + 1e-9),
        },
        {
          text: 'the guarded rule never gives up a right incumbent with probability above 0.16',
          holds: guarded.every(({ found }) => found[1] <= 0.16),
        },
      ],
    };
  },
};

function outcome(presentation: Presentation, bias: number, slot: 1 | 2): Outcome {
  const right = (1 - tieRate) * accuracy;
  const wrong = (1 - tieRate) * (1 - accuracy);
  const even = (1 - tieRate) / 2;
  const [better, worse, equal] = [
    [right, wrong],
    [wrong, right],
    [even, even],
  ].map(([swap = 0, keep = 0]) => swapChance(presentation, bias, slot, swap, keep));
  const after = successAfterComparison({
    incumbentSucceeds: 0.6,
    onlyIncumbent: 0.24,
    onlyChallenger: 0.24,
    swapGivenBetter: better ?? 0,
    swapGivenWorse: worse ?? 0,
  });
  return [better ?? 0, worse ?? 0, equal ?? 0, after - 0.6];
}

/** Sums the probabilities of all vote lists that swap; an unbiased vote is B or A with the given chances. */
function swapChance(
  presentation: Presentation,
  bias: number,
  slot: 1 | 2,
  swap: number,
  keep: number,
): number {
  const orderGuard = presentation === 'alternate order, order guard';
  const sumOver = (votes: readonly Vote[], chance: number): number => {
    const k = votes.length;
    if (k === m) return decide(votes, { votes: m, orderGuard }).decision === 'swap' ? chance : 0;
    const shownFirst = presentation === 'fixed order, majority' || incumbentFirst(k);
    const biased: Vote = shownFirst === (slot === 1) ? 'A' : 'B';
    const chanceOf = (vote: Vote, free: number): number => (1 - bias) * free + (vote === biased ? bias : 0);
    return (
      sumOver([...votes, 'A'], chance * chanceOf('A', keep)) +
      sumOver([...votes, 'B'], chance * chanceOf('B', swap)) +
      sumOver([...votes, 'TIE'], chance * chanceOf('TIE', 1 - swap - keep))
    );
  };
  return sumOver([], 1);
}

import { certifyBank } from '../../../workflows/method/certify.ts';
import { paperHyperparameters as paper } from '../../../workflows/method/hyperparameters.ts';
import { meanAndDeviation } from '../../../workflows/method/mean.ts';
import type { RandomGenerator } from '../../../workflows/method/random.ts';
import type { CertifierRule, Tracker } from '../../../workflows/method/types.ts';
import { type Experiment, resultOf, share } from './experiment.ts';
import { type GroupGenerator, type JudgeKind, questionGroups } from './generators.ts';
import { advance, freshTracker, streamOf } from './replicate.ts';

const banks = 40;
const questions = 992;
const lifts = [0.05, 0.1, 0.13, 0.2, 0.3, 0.5] as const;
const rules = ['naive', 'default', 'strict'] as const satisfies CertifierRule[];

interface Candidate {
  readonly tracker: Tracker;
  /** Signed by the declared polarity: 0 is useless, negative has the wrong sign. */
  readonly lift: number;
}

interface RuleResult {
  readonly certified: number;
  readonly falseShare: number;
  readonly worstFalseShare: number;
  readonly standardError: number;
  readonly power: number;
  readonly powerFrom13: number;
}

interface BankResult {
  readonly eligible: number;
  readonly byRule: Readonly<Record<(typeof rules)[number], RuleResult>>;
}

/** METHOD 3.7: false share of a whole bank at one point in time. */
export const bank: Experiment<BankResult> = {
  name: 'bank',
  rows: ['graded', 'binary'] satisfies JudgeKind[],

  run(judge) {
    const makers = new Map(
      [0, ...lifts, ...lifts.map((l) => -l)].map((lift) => [lift, makerOf(judge, lift)]),
    );
    const all = Array.from({ length: banks }, (_, b) => drawBank(makers, streamOf('bank', judge, b)));
    const eligible = all.map(
      (candidates) => candidates.filter(({ tracker }) => tracker.n >= paper.nMin).length,
    );
    return {
      eligible: meanAndDeviation(eligible).mean,
      byRule: {
        naive: judgeRule(all, 'naive'),
        default: judgeRule(all, 'default'),
        strict: judgeRule(all, 'strict'),
      },
    };
  },

  report(results) {
    const read = this.rows.flatMap((judge) => {
      const { eligible, byRule } = resultOf(results, judge);
      return rules.map((rule) => ({ judge, rule, eligible, found: byRule[rule] }));
    });
    const of = (judge: string, rule: string) => read.find((r) => r.judge === judge && r.rule === rule)?.found;
    return {
      title: 'A bank of 992 candidates (METHOD 3.7)',
      generator:
        '8 % informative, 4 % with the wrong sign, 88 % useless; lifts uniform over 0.05, 0.10, 0.13, 0.20, 0.30, 0.50 ' +
        '(ours). Traffic (ours): the number of groups a question has seen is log-normal with median 9 and sigma 1.5, at ' +
        'most 400, which makes about 581 of 992 eligible as in METHOD.',
      tables: [
        {
          title: 'Certificates at one point in time',
          note: `${banks} banks. False: useless or of the wrong sign. METHOD's numbers: naive 205 and 250 certified with false share 0.78 and 0.83, default 36 and 25 with 0.07 and 0.12, strict 17 and 9 with 0.00 (graded, binary).`,
          header: [
            'judge',
            'rule',
            'eligible',
            'certified',
            'false share',
            'largest',
            'power, lift > 0',
            'power, lift >= 0.13',
          ],
          rows: read.map(({ judge, rule, eligible, found }) => [
            judge,
            rule,
            eligible.toFixed(0),
            found.certified.toFixed(1),
            `${share(found.falseShare)} (se ${share(found.standardError)})`,
            share(found.worstFalseShare),
            share(found.power),
            share(found.powerFrom13),
          ]),
        },
      ],
      charts: [],
      claims: this.rows.flatMap((judge) => {
        const [naive, byDefault, strict] = rules.map((rule) => of(judge, rule));
        return [
          {
            text: `${judge}: strict keeps the mean false share at most 0.10 (two standard errors)`,
            holds: (strict?.falseShare ?? 1) + 2 * (strict?.standardError ?? 1) <= 0.1,
          },
          {
            text: `${judge}: default's false share is below 0.20, naive's above 0.5`,
            holds: (byDefault?.falseShare ?? 1) < 0.2 && (naive?.falseShare ?? 0) > 0.5,
          },
          {
            text: `${judge}: strict certifies fewer than default, default fewer than naive, and strict still some`,
            holds:
              0 < (strict?.certified ?? 0) &&
              (strict?.certified ?? 0) < (byDefault?.certified ?? 0) &&
              (byDefault?.certified ?? 0) < (naive?.certified ?? 0),
          },
        ];
      }),
    };
  },
};

function makerOf(judge: string, lift: number): GroupGenerator {
  return questionGroups({ judge: judge === 'graded' ? 'graded' : 'binary', lift });
}

function drawBank(makers: ReadonlyMap<number, GroupGenerator>, random: RandomGenerator): Candidate[] {
  return Array.from({ length: questions }, () => {
    const kind = random.choose([0.08, 0.04, 0.88]);
    const size = lifts[random.below(lifts.length)] ?? 0;
    const lift = [size, -size, 0][kind] ?? 0;
    const groups = Math.min(400, Math.round(Math.exp(Math.log(9) + 1.5 * random.normal())));
    let tracker = freshTracker(1);
    for (let g = 0; g < groups; g++) tracker = advance(tracker, resultOfLift(makers, lift), random);
    return { tracker, lift };
  });
}

function resultOfLift(makers: ReadonlyMap<number, GroupGenerator>, lift: number): GroupGenerator {
  const maker = makers.get(lift);
  if (maker === undefined) throw new Error(`no generator for lift ${lift}`);
  return maker;
}

function judgeRule(all: readonly (readonly Candidate[])[], certifier: CertifierRule): RuleResult {
  const perBank = all.map((candidates) => {
    const certificates = certifyBank(
      candidates.map(({ tracker }) => tracker),
      { ...paper, certifier },
    );
    const chosen = candidates.filter((_, i) => certificates[i]?.reasons.length === 0);
    const shareOf = (from: number): number => {
      const worth = candidates.filter(({ lift, tracker }) => lift >= from && tracker.n >= paper.nMin);
      return worth.filter((candidate) => chosen.includes(candidate)).length / worth.length;
    };
    const wrong = chosen.filter(({ lift }) => lift <= 0).length;
    return {
      certified: chosen.length,
      falseShare: chosen.length === 0 ? 0 : wrong / chosen.length,
      power: shareOf(0.05),
      powerFrom13: shareOf(0.13),
    };
  });
  const spread = (name: keyof (typeof perBank)[number]) => meanAndDeviation(perBank.map((b) => b[name]));
  return {
    certified: spread('certified').mean,
    falseShare: spread('falseShare').mean,
    worstFalseShare: Math.max(...perBank.map((b) => b.falseShare)),
    standardError: spread('falseShare').deviation / Math.sqrt(all.length),
    power: spread('power').mean,
    powerFrom13: spread('powerFrom13').mean,
  };
}

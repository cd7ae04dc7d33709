import type { RandomGenerator } from '../../../workflows/method/random.ts';
import type { TrackerObservation } from '../../../workflows/method/types.ts';

/** METHOD 3, model: the judge's scores of a group, around a task effect that its rollouts share. */
export type JudgeKind = 'graded' | 'binary';

/** Makes the observations of one group of rollouts. */
export type GroupGenerator = (random: RandomGenerator) => TrackerObservation[];

export interface QuestionModel {
  readonly judge: JudgeKind;
  /** Realised lift E[s|YES] - E[s|NO]. */
  readonly lift: number;
  /** Rate of the latent attribute that moves the score, 0.5 unless said. */
  readonly rate?: number;
  /** Chance that the answer tells the attribute wrong, 0.1 unless said. */
  readonly flip?: number;
}

const taskDeviation = { graded: 0.2, binary: 0.25 } as const;
const noiseDeviation = 0.2;
const defaultSize = 8;

const clip = (value: number): number => Math.min(1, Math.max(0, value));

function drawScore(judge: JudgeKind, mean: number, random: RandomGenerator): number {
  if (judge === 'graded') return clip(mean + noiseDeviation * random.normal());
  return random.next() < clip(mean) ? 1 : 0;
}

/** METHOD 3, model: score mean = 0.5 + task effect + delta (latent - rate), answer = latent, sometimes flipped. */
export function questionGroups(model: QuestionModel): GroupGenerator {
  const { judge, rate = 0.5, flip = 0.1 } = model;
  const delta = calibrateDelta(model);
  return (random) => {
    const task = 0.5 + taskDeviation[judge] * random.normal();
    return Array.from({ length: defaultSize }, () => {
      const latent = random.next() < rate ? 1 : 0;
      const pYes = random.next() < flip ? 1 - latent : latent;
      return { pYes, judge: drawScore(judge, task + delta * (latent - rate), random) };
    });
  };
}

/** The shift between the latent classes that realises the lift after clipping, by bisection. */
function calibrateDelta({ judge, lift, rate = 0.5, flip = 0.1 }: QuestionModel): number {
  const deviation =
    judge === 'graded' ? Math.hypot(taskDeviation.graded, noiseDeviation) : taskDeviation.binary;
  const yesRate = rate * (1 - flip) + (1 - rate) * flip;
  const reliability = (rate * (1 - flip)) / yesRate - (rate * flip) / (1 - yesRate);
  const realised = (delta: number): number =>
    reliability *
    (clippedMean(0.5 + delta * (1 - rate), deviation) - clippedMean(0.5 - delta * rate, deviation));
  let [low, high] = [-4, 4];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (realised(middle) < lift) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** E[clip(N(mean, deviation))] by the midpoint rule over ±8 deviations. */
function clippedMean(mean: number, deviation: number): number {
  const cells = 4000;
  const width = 16 / cells;
  let sum = 0;
  for (let i = 0; i < cells; i++) {
    const z = -8 + (i + 0.5) * width;
    sum += clip(mean + deviation * z) * Math.exp(-0.5 * z * z);
  }
  return (sum * width) / Math.sqrt(2 * Math.PI);
}

/** The useless questions of METHOD 3.1, by scenario: inside a task the answer says nothing about the score. */
export const nullScenarios: Readonly<
  Record<string, { readonly what: string; readonly groups: GroupGenerator }>
> = {
  N1: { what: 'graded judge, answers iid', groups: nullGroups({}) },
  N2: { what: 'binary judge', groups: nullGroups({ judge: 'binary' }) },
  N3: {
    what: 'answers depend on the task, ICC 0.5 (YES rate per task from Beta(1/2, 1/2))',
    groups: nullGroups({ yesRate: (_, random) => Math.sin((Math.PI / 2) * random.next()) ** 2 }),
  },
  N4: {
    what: 'binary judge, base rate 0.95, YES rate 0.97, no task effect',
    groups: nullGroups({ judge: 'binary', taskMean: () => 0.95, yesRate: () => 0.97 }),
  },
  N5: {
    what: 'answers follow the task (YES where 0.488 standardised task effects exceed a normal draw): pooled lift 0.14',
    groups: nullGroups({
      // P(N(0,1) < 0.488 t) has covariance with the task that makes the pooled lift 0.14.
      yesRate: (taskEffect, random) =>
        random.normal() < (0.488 * taskEffect) / taskDeviation.graded ? 1 : 0,
      perRollout: true,
    }),
  },
  N6: { what: 'rare YES, 2 %', groups: nullGroups({ yesRate: () => 0.02 }) },
  N7: { what: 'strict ranks from a comparative judge', groups: rankedGroups },
  N8: { what: 'groups of 4', groups: nullGroups({ size: 4 }) },
};

interface NullModel {
  readonly judge?: JudgeKind;
  readonly size?: number;
  readonly taskMean?: (random: RandomGenerator) => number;
  readonly yesRate?: (taskEffect: number, random: RandomGenerator) => number;
  /** The YES rate is drawn anew for every rollout instead of once a task. */
  readonly perRollout?: boolean;
}

function nullGroups({
  judge = 'graded',
  size = defaultSize,
  taskMean,
  yesRate,
  perRollout,
}: NullModel): GroupGenerator {
  return (random) => {
    const task = taskMean?.(random) ?? 0.5 + taskDeviation[judge] * random.normal();
    const drawRate = (): number => yesRate?.(task - 0.5, random) ?? 0.5;
    const shared = drawRate();
    return Array.from({ length: size }, () => ({
      pYes: random.next() < (perRollout ? drawRate() : shared) ? 1 : 0,
      judge: drawScore(judge, task, random),
    }));
  };
}

function rankedGroups(random: RandomGenerator): TrackerObservation[] {
  const ranks = random.shuffle([0, 1, 2, 3, 4, 5, 6, 7]);
  return ranks.map((rank) => ({ pYes: random.below(2), judge: rank / 7 }));
}

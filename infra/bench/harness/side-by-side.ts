/** Both sides in turns, in one run. */
import { median, spread } from '../numbers.ts';
import { type OpenSide, openOurs, openPlain, type Place, type StepTimes } from './sides.ts';
import type { Walk } from './walk.ts';

export interface Compared {
  readonly ours: readonly StepTimes[];
  readonly plain: readonly StepTimes[];
}

/** Each walk on each side, `rounds` times; the side that begins changes. The first round only warms up. */
export async function compareSides(place: Place, walks: readonly Walk[], rounds: number): Promise<Compared> {
  const ours: StepTimes[] = [];
  const plain: StepTimes[] = [];
  const sides: readonly (readonly [OpenSide, StepTimes[]])[] = [
    [openOurs, ours],
    [openPlain, plain],
  ];
  for (let round = 0; round <= rounds; round += 1) {
    for (const walk of walks) {
      for (const [open, times] of round % 2 === 0 ? sides : sides.toReversed()) {
        const taken = await takeWalk(open, place, walk);
        if (round > 0) times.push(...taken);
      }
    }
  }
  return { ours, plain };
}

export async function takeWalk(open: OpenSide, place: Place, walk: Walk): Promise<readonly StepTimes[]> {
  const side = await open(place, walk);
  try {
    const times: StepTimes[] = [];
    for (const step of walk.steps) times.push(await side.take(step));
    return times;
  } finally {
    await side.close();
  }
}

/** Observing, acting and the screenshot: the step without what the page itself takes. */
export const cycleOf = ({ observe, act, screenshot }: StepTimes): number => observe + act + screenshot;

const parts: Readonly<Record<string, (times: StepTimes) => number>> = {
  observe: ({ observe }) => observe,
  act: ({ act }) => act,
  screenshot: ({ screenshot }) => screenshot,
  'observe + act + screenshot': cycleOf,
  'settle (not counted)': ({ settle }) => settle,
};

/** Rows of a table: part, ours, plain, ratio of the medians. */
export function comparisonRows({ ours, plain }: Compared): readonly (readonly string[])[] {
  return Object.entries(parts).map(([name, part]) => {
    const [mine, theirs] = [ours.map(part), plain.map(part)];
    return [name, spread(mine), spread(theirs), (median(mine) / median(theirs)).toFixed(2)];
  });
}

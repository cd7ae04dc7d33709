import { bank } from './bank.ts';
import { drift } from './drift.ts';
import { type Experiment, resultOf, type Section } from './experiment.ts';
import { nulls } from './nulls.ts';
import { polarity } from './polarity.ts';
import { positionBias } from './position-bias.ts';
import { power } from './power.ts';

/** In the order of the report. */
const simulations: ReadonlyMap<string, () => Section> = new Map([
  ['nulls', () => sectionOf(nulls)],
  ['power', () => sectionOf(power)],
  ['polarity', () => sectionOf(polarity)],
  ['drift', () => sectionOf(drift)],
  ['bank', () => sectionOf(bank)],
  ['position bias', () => sectionOf(positionBias)],
]);

export const simulationNames = [...simulations.keys()];

export const simulate = (name: string): Section => resultOf(simulations, name)();

function sectionOf<Result>(experiment: Experiment<Result>): Section {
  return experiment.report(new Map(experiment.rows.map((row) => [row, experiment.run(row)])));
}

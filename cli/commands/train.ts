import type { Settings } from '../../workers/settings.ts';
import { continueOrStart } from '../continue-run.ts';
import { type Overrides, readExperiment, settingsFor } from '../experiment.ts';
import { nameOfFile, refuseOddName } from '../run-name.ts';
import { startTraining } from '../start-run.ts';
import { type WorkOptions, workOn } from '../work-on.ts';

export interface TrainOptions extends WorkOptions, Overrides {
  /** Experiment file. */
  readonly config: string;
  readonly name?: string;
}

/** Trains by an experiment file. Without a name it continues the file's unfinished run, or starts its next one. */
export function train(settings: Settings, options: TrainOptions): Promise<void> {
  const { config, name, detach, json, ...overrides } = options;
  const experiment = readExperiment(config, overrides);
  if (name !== undefined) refuseOddName(name);
  return workOn(settingsFor(settings, experiment), { detach, json }, (place) => {
    const start = (runId: string) => startTraining(place, runId, experiment.train);
    if (name !== undefined) return start(name);
    return continueOrStart(place, {
      stem: `${nameOfFile(config)}-s${experiment.train.seed}-`,
      isOver: (runId, runs) => runs.get(runId)?.state === 'completed',
      start,
    });
  });
}

import type { BankStore } from '../../bank-store/contract.ts';
import type { Settings } from '../../workers/settings.ts';
import { continueOrStart } from '../continue-run.ts';
import { evaluationOf, type Overrides, readExperiment, settingsFor } from '../experiment.ts';
import { findResult } from '../find.ts';
import { nameOfFile, refuseOddName } from '../run-name.ts';
import { startEvaluation } from '../start-run.ts';
import { type WorkOptions, workOn } from '../work-on.ts';

export interface EvaluateOptions extends WorkOptions, Overrides {
  /** Experiment file. */
  readonly config: string;
  readonly name?: string;
  /** Frozen bank that selects: a digest, or the training run that froze it. Without: the greedy rollout is emitted. */
  readonly bank?: string;
  /** Adapter that acts: a digest, or the training run that made it. Without: the base policy acts. */
  readonly adapter?: string;
}

/** Evaluates the held-out tasks of an experiment file. */
export function evaluate(settings: Settings, options: EvaluateOptions): Promise<void> {
  const { config, name, bank, adapter, detach, json, ...overrides } = options;
  const experiment = readExperiment(config, overrides);
  if (name !== undefined) refuseOddName(name);
  return workOn(settingsFor(settings, experiment), { detach, json }, async (place) => {
    const what = await whatToEvaluate(
      place.store,
      { bank, adapter },
      experiment.train.hyperparameters.rolloutBudget,
    );
    const start = (runId: string) => startEvaluation(place, runId, evaluationOf(experiment, what));
    if (name !== undefined) return start(name);
    return continueOrStart(place, {
      stem: `${nameOfFile(config)}-eval-s${experiment.train.seed}-`,
      isOver: (runId, runs) => runs.get(runId)?.state === 'completed',
      start,
    });
  });
}

interface Named {
  readonly bank: string | undefined;
  readonly adapter: string | undefined;
}

/** Without a bank nothing selects, so that one rollout a task is enough. */
async function whatToEvaluate(store: BankStore, { bank, adapter }: Named, rolloutBudget: number) {
  const bankDigest = bank === undefined ? null : await findResult(store, 'bankDigest', bank);
  const adapterDigest = adapter === undefined ? null : await findResult(store, 'adapterDigest', adapter);
  return { bankDigest, adapterDigest, rolloutBudget: bankDigest === null ? 1 : rolloutBudget };
}

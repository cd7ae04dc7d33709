/** One run: what it was told to do, how far it is, and its training steps or the results of its tasks. */

import type { BankStore, PurposeCosts, Run, TrainingStepRow } from '../../bank-store/contract.ts';
import { storedEvaluation } from '../stored-config.ts';
import { emittedOf, greedyOf, readTaskResults, type TaskResult } from './evaluation-results.ts';
import {
  type Arm,
  compareArms,
  type Part,
  ratesBy,
  type SelectionEffect,
  selectionEffects,
} from './held-out.ts';
import { type RunOverview, readRunOverview } from './run-overview.ts';
import { readTrainingSummary, type TrainingSummary } from './training-summary.ts';

export interface RunReport {
  readonly overview: RunOverview;
  readonly identity: Run['identity'];
  readonly config: unknown;
  readonly codeVersions: readonly string[];
  readonly costs: readonly PurposeCosts[];
  readonly work: TrainingWork | EvaluationWork;
}

export interface TrainingWork {
  readonly kind: 'train';
  readonly summary: TrainingSummary;
  readonly steps: readonly TrainingStepRow[];
}

export interface EvaluationWork {
  readonly kind: 'evaluate';
  readonly rolloutBudget: number;
  /** The greedy rollouts first, then what selection emitted where the run selects. */
  readonly arms: readonly Arm[];
  /** The same without the tasks that have a caveat; null where none has. */
  readonly soundArms: readonly Arm[] | null;
  /** Of what was emitted; of the greedy rollouts where nothing selects. */
  readonly byApp: readonly Part[];
  readonly byDifficulty: readonly Part[];
  readonly selection: readonly SelectionEffect[];
  readonly tasks: readonly TaskResult[];
}

export async function readRunReport(store: BankStore, run: Run): Promise<RunReport> {
  const [overview, costs, work] = await Promise.all([
    readRunOverview(store, run),
    store.costs(run.id),
    run.kind === 'train' ? readTraining(store, run) : readEvaluation(store, run),
  ]);
  const { identity, config, codeVersions } = run;
  return { overview, identity, config, codeVersions, costs, work };
}

async function readTraining(store: BankStore, run: Run): Promise<TrainingWork> {
  const [summary, steps] = await Promise.all([readTrainingSummary(store, run), store.trainingSteps(run.id)]);
  return { kind: 'train', summary, steps };
}

async function readEvaluation(store: BankStore, run: Run): Promise<EvaluationWork> {
  const { bankDigest, hyperparameters } = storedEvaluation(run);
  const { rolloutBudget } = hyperparameters;
  const tasks = await readTaskResults(store, run.id);
  const sound = tasks.filter(({ caveats }) => caveats.length === 0);
  const selects = bankDigest !== null && rolloutBudget > 1;
  const emission = selects ? emittedOf : greedyOf;
  const armsOf = (results: readonly TaskResult[]) => {
    const source = { runId: run.id, results };
    const greedy = { ...source, name: 'greedy', emission: greedyOf };
    return compareArms(selects ? [greedy, { ...source, name: 'selected', emission: emittedOf }] : [greedy]);
  };
  return {
    kind: 'evaluate',
    ...{ rolloutBudget, tasks },
    arms: armsOf(tasks),
    byApp: ratesBy(tasks, emission, ({ app }) => app),
    byDifficulty: ratesBy(tasks, emission, ({ difficulty }) => difficulty),
    soundArms: sound.length === tasks.length ? null : armsOf(sound),
    selection: selects ? selectionEffects(tasks) : [],
  };
}

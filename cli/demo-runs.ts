import type { Run } from '../bank-store/contract.ts';
import { continueOrStart } from './continue-run.ts';
import { type Experiment, evaluationOf, withoutBank } from './experiment.ts';
import { follow } from './follow.ts';
import { throughOutages } from './outages.ts';
import type { DemoRuns } from './report/demo-report.ts';
import { type StartedRun, startEvaluation, startTraining } from './start-run.ts';
import type { Workplace } from './workplace.ts';

export interface DemoPlan {
  /** Runs are named `<prefix>-s<seed>-<n>`. */
  readonly prefix: string;
  readonly experiment: Experiment;
  /** Also trains vanilla GRPO, for comparison. */
  readonly ablation: boolean;
  /** What becomes of a finished demo of the same configuration: its result is used, or it is done once more. */
  readonly whenFinished: 'reuse' | 'start_another';
}

const namesOf = (training: string) => ({
  training,
  base: `${training}-base`,
  clift: `${training}-clift`,
  grpoTraining: `${training}-grpo`,
  grpo: `${training}-grpo-eval`,
});

/** Trains, evaluates base and trained policy on held-out tasks, selects; continues what an earlier try left. */
export async function runDemo(workplace: Workplace, plan: DemoPlan): Promise<DemoRuns> {
  const { experiment, ablation } = plan;
  const { rolloutBudget } = experiment.train.hyperparameters;
  const training = await throughOutages(() => startOrContinue(workplace, plan));
  const names = namesOf(training.run.id);

  // The base policy needs no training, so its evaluation fills the gaps that training leaves.
  const untrained = { adapterDigest: null, bankDigest: null, rolloutBudget: 1 };
  const base = await evaluate(workplace, names.base, evaluationOf(experiment, untrained));
  await follow(workplace, base, 'base policy, held-out tasks');
  const trained = digestsOf(await follow(workplace, training, 'CLIFT training'));
  const clift = await evaluate(
    workplace,
    names.clift,
    evaluationOf(experiment, { ...trained, rolloutBudget }),
  );
  await follow(workplace, clift, `CLIFT, held-out tasks, K=${rolloutBudget}`);
  const runs = { training: names.training, base: names.base, clift: names.clift };
  return ablation ? { ...runs, grpo: await runAblation(workplace, names, experiment) } : runs;
}

const evaluate = (...what: Parameters<typeof startEvaluation>) =>
  throughOutages(() => startEvaluation(...what));

/** The same judge and the same steps without a bank. */
async function runAblation(
  workplace: Workplace,
  names: ReturnType<typeof namesOf>,
  experiment: Experiment,
): Promise<NonNullable<DemoRuns['grpo']>> {
  const training = await throughOutages(() =>
    startTraining(workplace, names.grpoTraining, withoutBank(experiment).train),
  );
  const { adapterDigest } = digestsOf(await follow(workplace, training, 'GRPO training'));
  const evaluation = await evaluate(
    workplace,
    names.grpo,
    evaluationOf(experiment, { adapterDigest, bankDigest: null, rolloutBudget: 1 }),
  );
  await follow(workplace, evaluation, 'GRPO, held-out tasks');
  return { training: names.grpoTraining, evaluation: names.grpo };
}

/** The newest demo of this configuration that is to be continued, else a new one under the next free number. */
function startOrContinue(workplace: Workplace, plan: DemoPlan): Promise<StartedRun> {
  const { prefix, ablation, whenFinished } = plan;
  const { train } = plan.experiment;
  return continueOrStart(workplace, {
    stem: `${prefix}-s${train.seed}-`,
    isOver: (name, runs) => whenFinished === 'start_another' && isFinished(runs, name, ablation),
    start: (name) => startTraining(workplace, name, train),
  });
}

function isFinished(runs: ReadonlyMap<string, Run>, training: string, ablation: boolean): boolean {
  const { base, clift, grpoTraining, grpo } = namesOf(training);
  const wanted = [training, base, clift, ...(ablation ? [grpoTraining, grpo] : [])];
  return wanted.every((id) => runs.get(id)?.state === 'completed');
}

/** A run without a trainer has no adapter. */
function digestsOf({ id, bankDigest, adapterDigest }: Run) {
  if (bankDigest !== null) return { bankDigest, adapterDigest };
  throw new Error(`run ${id} ended without a bank; \`clift show ${id}\` tells its state`);
}

import { join } from 'node:path';
import type { Run } from '../../bank-store/contract.ts';
import { RunIdentityMismatch } from '../../bank-store/errors.ts';
import type { Settings } from '../../workers/settings.ts';
import { type Experiment, evaluationOf, type Overrides, readExperiment, withoutBank } from '../experiment.ts';
import { follow } from '../follow.ts';
import { collectDemoReport, type DemoRuns } from '../report/demo-report.ts';
import { renderDemoReport } from '../report/render-demo-report.ts';
import { startEvaluation, startTraining } from '../start-run.ts';
import { type Workplace, withWorkplace } from '../workplace.ts';

export interface DemoOptions extends Overrides {
  /** Experiment file. */
  readonly config?: string;
  /** Also trains vanilla GRPO, for comparison. */
  readonly ablation?: boolean;
  readonly json?: boolean;
}

/** Trains, certifies and selects on the sandbox; continues the unfinished demo of the same configuration. */
export async function demo(settings: Settings, options: DemoOptions): Promise<void> {
  const { seed, steps, ablation = false, json = false } = options;
  const file = options.config ?? join(settings.projectDirectory, 'infra/experiments/demo.yaml');
  const experiment = readExperiment(file, {
    ...(seed !== undefined && { seed }),
    ...(steps !== undefined && { steps }),
  });
  const say = (line: string) => process.stderr.write(`${line}\n`);
  await withWorkplace(settings, say, async (workplace) => {
    const name = await demoName(workplace, experiment, ablation);
    say(`demo ${name}: everything is recorded in ${settings.home}; the same command continues it`);
    const runs = await runDemo(workplace, name, experiment, ablation);
    const report = await collectDemoReport(workplace.store, runs);
    console.log(json ? JSON.stringify(report, null, 2) : renderDemoReport(report, settings));
  });
}

const phases = (name: string) => ({
  training: name,
  base: `${name}-base`,
  clift: `${name}-clift`,
  grpoTraining: `${name}-grpo`,
  grpo: `${name}-grpo-eval`,
});

/** The unfinished demo of this configuration, else the next free number. */
async function demoName({ store }: Workplace, { train }: Experiment, ablation: boolean): Promise<string> {
  const runs = new Map((await store.listRuns()).map((run) => [run.id, run]));
  const pattern = new RegExp(`^demo-s${train.seed}-(\\d+)$`);
  const numbers = [...runs.keys()].flatMap((id) => Number(pattern.exec(id)?.[1] ?? []));
  const last = Math.max(0, ...numbers);
  const lastName = `demo-s${train.seed}-${last}`;
  const { training, base, clift, grpoTraining, grpo } = phases(lastName);
  const wanted = [training, base, clift, ...(ablation ? [grpoTraining, grpo] : [])];
  const isFinished = wanted.every((id) => runs.get(id)?.state === 'completed');
  return last > 0 && !isFinished ? lastName : `demo-s${train.seed}-${last + 1}`;
}

async function runDemo(
  workplace: Workplace,
  name: string,
  experiment: Experiment,
  ablation: boolean,
): Promise<DemoRuns> {
  const names = phases(name);
  const { rolloutBudget } = experiment.train.hyperparameters;
  const training = await startTrainingOrRename(workplace, names.training, experiment);
  if (training.run.id !== name) return runDemo(workplace, training.run.id, experiment, ablation);

  // The base policy needs no training, so its evaluation fills the gaps that training leaves.
  const untrained = { adapterDigest: null, bankDigest: null, rolloutBudget: 1 };
  const base = await startEvaluation(workplace, names.base, evaluationOf(experiment, untrained));
  await follow(workplace, base, 'base policy, held-out tasks');
  const trained = await follow(workplace, training, 'CLIFT training');
  const clift = await startEvaluation(
    workplace,
    names.clift,
    evaluationOf(experiment, { ...digestsOf(trained), rolloutBudget }),
  );
  await follow(workplace, clift, `CLIFT, held-out tasks, K=${rolloutBudget}`);
  const runs = { training: names.training, base: names.base, clift: names.clift };
  if (!ablation) return runs;

  const grpoTraining = await startTraining(workplace, names.grpoTraining, withoutBank(experiment).train);
  const { adapterDigest } = digestsOf(await follow(workplace, grpoTraining, 'GRPO training'));
  const grpo = await startEvaluation(
    workplace,
    names.grpo,
    evaluationOf(experiment, { adapterDigest, bankDigest: null, rolloutBudget: 1 }),
  );
  await follow(workplace, grpo, 'GRPO, held-out tasks');
  return { ...runs, grpo: { training: names.grpoTraining, evaluation: names.grpo } };
}

/** A demo of the same seed but another configuration keeps its name; this one takes the next number. */
async function startTrainingOrRename(workplace: Workplace, name: string, { train }: Experiment) {
  try {
    return await startTraining(workplace, name, train);
  } catch (error) {
    if (!(error instanceof RunIdentityMismatch)) throw error;
    const next = name.replace(/\d+$/, (number) => String(Number(number) + 1));
    return startTraining(workplace, next, train);
  }
}

function digestsOf({ id, bankDigest, adapterDigest }: Run) {
  if (bankDigest !== null && adapterDigest !== null) return { bankDigest, adapterDigest };
  throw new Error(`run ${id} ended without a bank or an adapter; \`clift show ${id}\` tells its state`);
}

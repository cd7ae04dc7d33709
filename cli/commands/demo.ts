import { join } from 'node:path';
import type { Settings } from '../../workers/settings.ts';
import { type DemoPlan, runDemo } from '../demo-runs.ts';
import { type Overrides, readExperiment, settingsFor } from '../experiment.ts';
import { throughOutages } from '../outages.ts';
import { collectDemoReport } from '../report/demo-report.ts';
import { renderDemoReport } from '../report/render-demo-report.ts';
import { jsonLine } from '../report/terminal-text.ts';
import { whileScriptedModelsRun, withScriptedModels } from '../scripted-models.ts';
import { withWorkplace } from '../workplace.ts';

export interface DemoOptions extends Overrides {
  /** Experiment file. */
  readonly config?: string;
  readonly ablation?: boolean;
  readonly models?: 'scripted';
  readonly json?: boolean;
}

/** Trains, certifies and selects on the sandbox; continues the unfinished demo of the same configuration. */
export async function demo(settings: Settings, options: DemoOptions): Promise<void> {
  const { config, ablation = false, json = false, models, ...overrides } = options;
  const file = config ?? join(settings.projectDirectory, 'infra/experiments/demo.yaml');
  const experiment = readExperiment(file, overrides);
  if (models === undefined)
    return runAndReport(settings, { prefix: 'demo', experiment, ablation, whenFinished }, json);
  const plan: DemoPlan = {
    ...{ prefix: 'scripted', ablation, whenFinished },
    experiment: withScriptedModels(experiment),
  };
  return whileScriptedModelsRun(settings, (reachable) => runAndReport(reachable, plan, json));
}

/** Who asks for a demo again wants to see one run. */
const whenFinished = 'start_another';

async function runAndReport(place: Settings, plan: DemoPlan, json: boolean): Promise<void> {
  const settings = settingsFor(place, plan.experiment);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  say(`Everything is recorded in ${settings.home}. Ctrl-C loses nothing: the same command continues.`);
  await withWorkplace(settings, say, async (workplace) => {
    const runs = await runDemo(workplace, plan);
    const report = await throughOutages(() => collectDemoReport(workplace.store, runs));
    console.log(json ? jsonLine(report) : renderDemoReport(report, settings));
  });
}

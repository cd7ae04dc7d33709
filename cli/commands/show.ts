import type { BankStore, Run } from '../../bank-store/contract.ts';
import type { Settings } from '../../workers/settings.ts';
import { trainStepId } from '../../workflows/names.ts';
import { findRollout, findRun } from '../find.ts';
import { withStore } from '../open-store.ts';
import { renderRollout } from '../report/render-rollout.ts';
import { renderRun } from '../report/render-run.ts';
import { renderTask } from '../report/render-task.ts';
import { renderTrainingStep } from '../report/render-training-step.ts';
import { readRolloutReport } from '../report/rollout-report.ts';
import { readRunReport } from '../report/run-report.ts';
import { readTaskReport } from '../report/task-report.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';
import { readTrainingStep } from '../report/training-step-report.ts';

interface Options {
  readonly json?: boolean;
  readonly shard?: number;
}

/** What the words after `clift show` name. */
export type Shown =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'task'; readonly runId: string; readonly taskId: string }
  | { readonly kind: 'step'; readonly runId: string; readonly shard: number; readonly step: number }
  | { readonly kind: 'rollout'; readonly rolloutId: string };

/** A report as data, and how a terminal shows it. */
interface Document {
  readonly data: unknown;
  readonly render: (paint: Paint) => string[];
}

/** Shows a run, a task or a training step of it, or a rollout. */
export async function show(settings: Settings, words: readonly string[], options: Options): Promise<void> {
  const shown = parseShown(words, options.shard ?? 0);
  const { data, render } = await withStore(settings, (store) => readShown(store, shown));
  console.log(options.json ? jsonLine(data) : render(terminalPaint).join('\n'));
}

const usage = 'say `clift show <run>`, `<run> <task>`, `<run> step <n>` or `<rollout>`';

/** Throws for words that name nothing that can be shown. */
export function parseShown([name, detail, number, ...rest]: readonly string[], shard: number): Shown {
  if (name === undefined || rest.length > 0) throw new Error(usage);
  if (/\/rollout\/\d+$/.test(name) && detail === undefined) return { kind: 'rollout', rolloutId: name };
  if (detail === undefined) return { kind: 'run', runId: name };
  if (detail !== 'step') {
    if (number !== undefined) throw new Error(usage);
    return { kind: 'task', runId: name, taskId: detail };
  }
  if (number === undefined || !/^\d+$/.test(number)) {
    throw new Error(`which step? \`clift show ${name} step 0\` shows the first`);
  }
  return { kind: 'step', runId: name, shard, step: Number(number) };
}

async function readShown(store: BankStore, shown: Shown): Promise<Document> {
  if (shown.kind === 'rollout') {
    const report = await readRolloutReport(store, await findRollout(store, shown.rolloutId));
    return { data: report, render: (paint) => renderRollout(report, paint) };
  }
  const run = await findRun(store, shown.runId);
  switch (shown.kind) {
    case 'run': {
      const report = await readRunReport(store, run);
      return { data: report, render: (paint) => renderRun(report, paint) };
    }
    case 'task': {
      await refuseTraining(store, run, shown.taskId);
      const report = await readTaskReport(store, run, shown.taskId);
      return { data: report, render: (paint) => renderTask(report, paint) };
    }
    case 'step': {
      const report = await readTrainingStep(store, await begunStep(store, run, shown));
      return { data: report, render: (paint) => renderTrainingStep(report, paint) };
    }
  }
}

/** In training a task has no result of its own: the steps that used it do. */
async function refuseTraining(store: BankStore, { id, kind }: Run, taskId: string): Promise<void> {
  if (kind === 'evaluate') return;
  const steps = (await store.trainingSteps(id))
    .filter((row) => row.taskId === taskId)
    .map(({ step }) => step);
  const used = steps.length === 0 ? 'has not used it' : `used it in step ${steps.join(', ')}`;
  throw new Error(`run ${id} trains and ${used}; \`clift show ${id} step <n>\` shows a step`);
}

async function begunStep(
  store: BankStore,
  { id, kind }: Run,
  at: { readonly shard: number; readonly step: number },
) {
  if (kind === 'evaluate') {
    throw new Error(`run ${id} evaluates and has no training steps; \`clift show ${id}\` lists its tasks`);
  }
  const { shard, step } = at;
  if ((await store.rolloutsOf(trainStepId(id, shard, step))).length === 0) {
    throw new Error(
      `run ${id} has not begun step ${step} of shard ${shard}; \`clift show ${id}\` lists its steps`,
    );
  }
  return { runId: id, shard, step };
}

import { outcomeCell } from './cells.ts';
import { emittedOf, greedyOf, isSwapped, notFinished, type TaskResult } from './evaluation-results.ts';
import { decimal, shortDigest } from './numbers.ts';
import { renderArms, renderParts, renderSelection } from './render-held-out.ts';
import { renderCosts, renderTraining } from './render-training.ts';
import { minuteOf } from './run-overview.ts';
import type { EvaluationWork, RunReport, TrainingWork } from './run-report.ts';
import { table } from './table.ts';
import { fields, type Paint } from './terminal-text.ts';

export function renderRun(report: RunReport, paint: Paint): string[] {
  const { overview, identity, codeVersions, work } = report;
  const { id, kind, state, stateReason, createdAt, bankDigest, adapterDigest, progress } = overview;
  return [
    ...fields([
      ['run', `${id}, ${kind}, started ${minuteOf(createdAt)} UTC`],
      ['state', `${state}${stateReason === '' ? '' : `: ${stateReason}`}`],
      ['progress', `${progress.done} of ${progress.total} ${progress.unit}`],
      ['adapter', shortDigest(adapterDigest)],
      ['bank', shortDigest(bankDigest)],
      ['code', codeVersions.join(', ')],
    ]),
    '',
    ...(work.kind === 'train' ? renderTrainingWork(work, paint) : renderEvaluationWork(work, report, paint)),
    '',
    paint('bold', 'Identity'),
    ...fields(Object.entries(identity).map(([name, value]) => [name, String(value)])),
  ];
}

function renderTrainingWork({ summary, steps }: TrainingWork, paint: Paint): string[] {
  const numeric = ['success', 'failure', 'unscored', 'judge', 'reward', 'KL'];
  return [
    ...renderTraining(summary, 'Training', paint),
    '',
    ...table(
      [
        ...['shard', 'step'].map((title) => ({ title, align: 'right' as const })),
        { title: 'task', whole: true },
        { title: 'outcome' },
        ...numeric.map((title) => ({ title, align: 'right' as const })),
      ],
      steps.map(({ shard, step, taskId, outcome, success, failure, unscored, ...row }) => [
        ...[String(shard), String(step), taskId, outcome],
        ...[success, failure, unscored].map(String),
        ...[
          decimal(row.meanJudgeScore),
          decimal(row.batch?.reward ?? null),
          decimal(row.metrics?.kl ?? null, 4),
        ],
      ]),
      paint,
    ),
  ];
}

function renderEvaluationWork(work: EvaluationWork, { costs }: RunReport, paint: Paint): string[] {
  const { arms, soundArms, byApp, byDifficulty, selection, rolloutBudget, tasks } = work;
  return [
    ...renderArms(arms, paint),
    '',
    ...(soundArms === null ? [] : [...renderArms(soundArms, paint, ' without a caveat'), '']),
    ...renderParts('difficulty', byDifficulty, paint),
    ...renderParts('app', byApp, paint),
    ...(selection.length > 0 ? [...renderSelection(selection, rolloutBudget, paint), ''] : []),
    ...renderTasks(tasks, paint),
    '',
    ...renderCosts(costs, paint),
  ];
}

function renderTasks(tasks: readonly TaskResult[], paint: Paint): string[] {
  return table(
    [
      { title: 'task', whole: true },
      ...['difficulty', 'greedy', 'emitted', ''].map((title) => ({ title })),
      { title: 'steps', align: 'right' },
    ],
    tasks.map((result) => [
      ...[result.taskId, result.difficulty],
      outcomeCell(greedyOf(result)?.outcome ?? notFinished),
      outcomeCell(emittedOf(result)?.outcome ?? notFinished),
      [isSwapped(result) ? 'swapped' : '', ...result.caveats.map(({ kind }) => kind)].join(' ').trim(),
      String(emittedOf(result)?.steps ?? 0),
    ]),
    paint,
  );
}

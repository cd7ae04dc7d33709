import { outcomeCell, outcomeText } from './cells.ts';
import { signed, UNKNOWN } from './numbers.ts';
import { renderEvidence, renderVotes } from './render-swap.ts';
import { table } from './table.ts';
import type { TaskReport } from './task-report.ts';
import { fenced, fields, type Paint, paragraph } from './terminal-text.ts';

export function renderTask(report: TaskReport, paint: Paint): string[] {
  const { runId, taskId, instruction, rollouts, selected, comparisons, evidence } = report;
  return [
    ...fields([
      ['run', runId],
      ['task', taskId],
      ['instruction', instruction],
    ]),
    '',
    ...table(
      [
        { title: 'rollout', align: 'right' },
        { title: 'outcome' },
        { title: 'stop' },
        { title: 'steps', align: 'right' },
        { title: 'evidence', align: 'right' },
        { title: '' },
      ],
      rollouts.map((rollout) => [
        ...[String(rollout.index), outcomeCell(rollout.outcome), rollout.stopReason ?? UNKNOWN],
        ...[
          String(rollout.steps),
          signed(rollout.evidence, 3),
          rollout.rolloutId === selected ? 'emitted' : '',
        ],
      ]),
      paint,
    ),
    '',
    ...renderVotes(comparisons, paint),
    ...(evidence.length > 0 ? ['', ...renderEvidence(evidence, paint)] : []),
    ...rollouts.flatMap(({ index, outcome, trace, answer, rolloutId }) => [
      '',
      `${paint('bold', `Rollout ${index}`)}  ${outcomeText(outcome)}`,
      ...paragraph(`clift show ${rolloutId}`),
      ...trace.flatMap((line) => paragraph(line)),
      ...(answer === null ? [] : fenced([answer])),
    ]),
  ];
}

import type { RequestLog } from '../../benchmarks/contract.ts';
import { answerText, outcomeCell, outcomeText } from './cells.ts';
import { decimal, shortDigest, signed, UNKNOWN } from './numbers.ts';
import type { RolloutReport, ShownAnswer } from './rollout-report.ts';
import { table } from './table.ts';
import { type Field, fenced, fields, type Paint, paragraph } from './terminal-text.ts';
import type { TraceLine } from './trace-lines.ts';

export function renderRollout(report: RolloutReport, paint: Paint): string[] {
  return [
    ...fields(rolloutFields(report)),
    '',
    paint('bold', 'Trace'),
    ...renderTrace(report.trace),
    ...(report.answer === null ? [] : ['', paint('bold', 'Answer'), ...fenced([report.answer])]),
    ...(report.rationale === null ? [] : ['', paint('bold', 'Rationale'), ...fenced([report.rationale])]),
    ...renderAnswers(report.answers, paint),
    '',
    ...renderAttempts(report.attempts, paint),
    '',
    ...renderGrades(report.grades, paint),
  ];
}

function rolloutFields(report: RolloutReport): readonly Field[] {
  const { rolloutId, taskId, instruction, outcome, stopReason, steps, verdict, finalUrl, flags } = report;
  return [
    ['rollout', rolloutId],
    ['task', taskId],
    ['instruction', instruction],
    ['outcome', `${outcomeText(outcome)}${verdict ? `: ${verdict}` : ''}`],
    ['ended', `${stopReason ?? 'still going'} after ${steps} steps${finalUrl ? ` on ${finalUrl}` : ''}`],
    ...flags.map(({ rule, detail }): Field => ['guard', `${rule}: ${detail}`]),
    [
      'policy',
      `${adapterText(report.adapterDigest)}, temperature ${report.temperature}, seed ${report.seed.join('/')}`,
    ],
    ['trajectory', report.trajectoryDigest ?? UNKNOWN],
    ...(report.requestLog === null ? [] : requestFields(report.requestLog)),
  ];
}

/** How many; and the flagged ones, each. */
function requestFields({ requests, dropped }: RequestLog): readonly Field[] {
  const flagged = requests.filter(({ flags }) => flags.length > 0);
  return [
    ['requests', `${requests.length + dropped}, ${flagged.length} flagged; all of them with --json`],
    ...flagged
      .slice(0, FLAGGED_SHOWN)
      .map(
        ({ method, url, status, flags }): Field => [
          'flagged',
          `${method} ${url}: ${flags.join(', ')}, answered ${status ?? 'nothing'}`,
        ],
      ),
  ];
}

const FLAGGED_SHOWN = 20;

export const adapterText = (digest: string | null): string =>
  digest === null ? 'base model' : `base model + adapter ${shortDigest(digest)}`;

/** In training with the judge's score of each step and its advantage. */
export function renderTrace(trace: readonly TraceLine[]): string[] {
  if (trace.length === 0) return ['no step'];
  const isScored = trace.some(({ judge, advantage }) => judge !== null || advantage !== null);
  if (!isScored) return trace.flatMap(({ text }) => paragraph(text));
  return [
    'judge  advantage',
    ...trace.flatMap(({ text, judge, advantage }) =>
      paragraph(text, `${decimal(judge).padStart(5)}  ${signed(advantage).padStart(9)}  `),
    ),
  ];
}

/** Under each URL state, yes before no. */
function renderAnswers(answers: readonly ShownAnswer[], paint: Paint): string[] {
  if (answers.length === 0) return [];
  const byState = [...Map.groupBy(answers, ({ pathKey }) => pathKey)];
  return [
    '',
    paint('bold', 'Answers of the self-verifier'),
    ...byState.flatMap(([pathKey, own]) => [
      ...paragraph(pathKey),
      ...own
        .toSorted((left, right) => (right.pYes ?? -1) - (left.pYes ?? -1))
        .flatMap(({ text, pYes }) => paragraph(text, `  ${answerText(pYes).padEnd(8)}  `)),
    ]),
  ];
}

export function renderAttempts(attempts: RolloutReport['attempts'], paint: Paint): string[] {
  if (attempts.length === 0) return [`${paint('bold', 'Attempts')}  none began`];
  return [
    paint('bold', 'Attempts'),
    ...table(
      [
        { title: 'attempt', align: 'right' },
        { title: 'steps', align: 'right' },
        { title: 'worker' },
        { title: 'end' },
      ],
      attempts.map(({ attempt, steps, worker, ending }) => [String(attempt), String(steps), worker, ending]),
      paint,
    ),
  ];
}

/** Every verdict stays, also one that a person overruled. */
export function renderGrades(grades: RolloutReport['grades'], paint: Paint): string[] {
  if (grades.length === 0) return [`${paint('bold', 'Grades')}  none`];
  return [
    paint('bold', 'Grades'),
    ...table(
      ['grader', 'ref', 'outcome', 'edited by', 'why'].map((title) => ({ title })),
      grades.map(({ grader, ref, outcome, edit }) => [
        ...[grader, ref, outcomeCell(outcome)],
        ...[edit?.author ?? '', edit?.reason ?? ''],
      ]),
      paint,
    ),
  ];
}

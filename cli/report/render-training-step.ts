import { outcomeCell, outcomeText } from './cells.ts';
import { decimal, signed, UNKNOWN } from './numbers.ts';
import { adapterText, renderTrace } from './render-rollout.ts';
import { table } from './table.ts';
import { type Field, fenced, fields, type Paint } from './terminal-text.ts';
import type {
  AnswerSummary,
  AskedQuestion,
  GroupMember,
  TrainingStepReport,
} from './training-step-report.ts';

export function renderTrainingStep(report: TrainingStepReport, paint: Paint): string[] {
  const { group, instruction, row, rollouts } = report;
  return [
    paint('bold', `Training step ${group.step} of shard ${group.shard}`),
    ...fields([
      ['task', group.taskId],
      ['instruction', instruction],
      ['acted', adapterText(group.adapterDigest)],
      ...stepFields(row),
    ]),
    '',
    ...table(
      [
        { title: 'rollout', align: 'right' },
        { title: 'outcome' },
        { title: 'stop' },
        { title: 'steps', align: 'right' },
        { title: 'judge', align: 'right' },
      ],
      rollouts.map(({ index, outcome, stopReason, steps, judgeScore }) => [
        ...[String(index), outcomeCell(outcome), stopReason ?? UNKNOWN, String(steps), decimal(judgeScore)],
      ]),
      paint,
    ),
    ...rollouts.flatMap((member) => renderMember(member, paint)),
    ...renderQuestions(report.questions, rollouts.length, paint),
  ];
}

function stepFields(row: TrainingStepReport['row']): readonly Field[] {
  if (row === null) return [['outcome', 'not committed yet']];
  const { outcome, batch, metrics, adapterDigest, codeVersion } = row;
  return [
    ['outcome', outcome],
    ...(batch === null || metrics === null
      ? []
      : ([
          [
            'update',
            `mean reward ${decimal(batch.reward, 3)} (bank ${signed(batch.verifier, 3)}), ` +
              `dead share ${decimal(batch.deadShare)}, loss ${decimal(metrics.loss, 4)}, KL ${decimal(metrics.kl, 4)}`,
          ],
        ] satisfies Field[])),
    ['after it', adapterText(adapterDigest)],
    ['code', codeVersion],
  ];
}

function renderMember({ index, outcome, judgeScore, rationale, trace }: GroupMember, paint: Paint): string[] {
  return [
    '',
    `${paint('bold', `Rollout ${index}`)}  ${outcomeText(outcome)}, judge ${decimal(judgeScore)}`,
    ...renderTrace(trace),
    ...(rationale === null ? [] : fenced([rationale])),
  ];
}

const marks: Readonly<Record<AnswerSummary, string>> = {
  yes: 'Y',
  no: 'n',
  mixed: '±',
  invalid: '?',
  'not asked': '',
};

function renderQuestions(questions: readonly AskedQuestion[], rollouts: number, paint: Paint): string[] {
  if (questions.length === 0) return [];
  const indices = Array.from({ length: rollouts }, (_, index) => String(index));
  return [
    '',
    `${paint('bold', 'Answers')}  Y yes, n no, ± differs between URL states, ? invalid; * certified before the step`,
    ...table(
      [{ title: '' }, { title: 'question' }, ...indices.map((title) => ({ title }))],
      questions.map(({ text, certified, answers }) => [
        ...[certified ? '*' : '', text],
        ...answers.map((answer) => marks[answer]),
      ]),
      paint,
    ),
  ];
}

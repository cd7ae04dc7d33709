import stringWidth from 'string-width';
import type { Comparison } from '../../bank-store/contract.ts';
import { answerText, outcomeText } from './cells.ts';
import { counted, signed } from './numbers.ts';
import { differs, type EvidenceRow, type ShownRollout, type SwapExample } from './swap-example.ts';
import { type Cell, table } from './table.ts';
import { fields, type Paint, pad, paragraph, WIDTH, wrap } from './terminal-text.ts';

const GUTTER = ' │ ';
const HALF = Math.floor((WIDTH - stringWidth(GUTTER)) / 2);
const EVIDENCE_ROWS = 12;

/** Both traces side by side, what the bank said of each, and the votes. */
export function renderSwap(swap: SwapExample | null, paint: Paint): string[] {
  if (swap === null) {
    return [
      `${paint('bold', 'A swap')}: on no task did the votes put another rollout in the greedy one's place.`,
    ];
  }
  const { taskId, instruction, greedy, emitted } = swap;
  return [
    `${paint('bold', 'A swap')}: ${changeText(swap)}`,
    ...fields([
      ['task', taskId],
      ['instruction', instruction],
    ]),
    '',
    ...sideBySide(describeSide('greedy rollout', greedy), describeSide('emitted instead', emitted)),
    '',
    ...renderEvidence(swap.evidence, paint),
    '',
    ...renderVotes(swap.comparisons, paint),
  ];
}

function changeText({ change }: SwapExample): string {
  switch (change) {
    case 'improve':
      return 'the emitted rollout succeeds where the greedy one fails';
    case 'regress':
      return 'the emitted rollout fails where the greedy one succeeds';
    case 'tie':
      return 'both rollouts have the same outcome';
    case 'unscored':
      return 'one of the two rollouts has no verdict';
  }
}

function describeSide(title: string, { outcome, evidence, trace, answer }: ShownRollout): string[] {
  return [
    `${title}: ${outcomeText(outcome)}, evidence ${signed(evidence, 3)}`,
    ...trace,
    ...(answer === null ? [] : [`answer: ${JSON.stringify(answer)}`]),
  ];
}

/** Each text wrapped in its half of the width; texts of the same place start on the same line. */
export function sideBySide(left: readonly string[], right: readonly string[]): string[] {
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => index);
  return rows.flatMap((index) => {
    const [ours, theirs] = [left, right].map((texts) => wrap(texts[index] ?? '', HALF));
    const height = Math.max(ours?.length ?? 0, theirs?.length ?? 0);
    return Array.from({ length: height }, (_, line) =>
      `${pad(ours?.[line] ?? '', HALF)}${GUTTER}${theirs?.[line] ?? ''}`.trimEnd(),
    );
  });
}

export function renderEvidence(rows: readonly EvidenceRow[], paint: Paint): string[] {
  if (rows.length === 0) return ['No certified question spoke about either rollout.'];
  const different = rows.filter(differs).length;
  const shown = rows.slice(0, EVIDENCE_ROWS);
  return [
    `${paint('bold', 'Evidence')}  ${counted(rows.length, 'answer')} to certified questions, ${different} different (marked *)`,
    ...table(
      [
        { title: '' },
        { title: 'question' },
        { title: 'at' },
        { title: 'weight', align: 'right' },
        { title: 'greedy', align: 'right' },
        { title: 'emitted', align: 'right' },
      ],
      shown.map((row): Cell[] => [
        differs(row) ? '*' : '',
        row.text,
        row.pathKey,
        signed(row.weight),
        answerText(row.greedy),
        answerText(row.emitted),
      ]),
      paint,
    ),
    ...(rows.length > shown.length ? [`… and ${rows.length - shown.length} more`] : []),
  ];
}

export function renderVotes(comparisons: readonly Comparison[], paint: Paint, width = WIDTH): string[] {
  if (comparisons.length === 0) return [`${paint('bold', 'Votes')}  none`];
  return [
    `${paint('bold', 'Votes')}  A keeps the incumbent, B swaps`,
    ...comparisons.flatMap(({ incumbent, challenger, votes, swap }) => {
      const cast = votes.map(({ label }) => label).join(' ');
      return paragraph(
        `rollout ${placeOf(challenger)} against ${placeOf(incumbent)}: ` +
          `${cast === '' ? 'no votes' : cast}, ${swap ? 'swapped' : 'kept'}`,
        '',
        width,
      );
    }),
  ];
}

/** The index that ends a rollout's id. */
export const placeOf = (rolloutId: string): string => rolloutId.split('/').at(-1) ?? rolloutId;

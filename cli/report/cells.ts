/** Values of the record in the words of reports. */
import type { ReportedOutcome } from './evaluation-results.ts';
import { decimal, UNKNOWN } from './numbers.ts';
import type { Cell } from './table.ts';
import type { Style } from './terminal-text.ts';

export function outcomeText(outcome: ReportedOutcome): string {
  return outcome.kind === 'unscored' ? `unscored (${outcome.cause})` : outcome.kind;
}

export const outcomeCell = (outcome: ReportedOutcome): Cell => {
  return { text: outcomeText(outcome), style: outcomeStyles[outcome.kind] };
};

const outcomeStyles: Readonly<Record<ReportedOutcome['kind'], Style>> = {
  success: 'green',
  failure: 'red',
  unscored: 'yellow',
};

/** Assertions answer with certainty, models with a probability; null: no valid answer. */
export function answerText(pYes: number | null): string {
  if (pYes === null) return UNKNOWN;
  if (pYes === 0 || pYes === 1) return pYes === 1 ? 'yes' : 'no';
  return `${pYes >= 0.5 ? 'yes' : 'no'} ${decimal(pYes)}`;
}

/** The demo's result for a terminal; nothing is computed here. */
import type { DemoReport } from './demo-report.ts';
import { shortDigest } from './numbers.ts';
import { renderBank, renderBankHistory } from './render-bank.ts';
import { renderArms, renderSelection } from './render-held-out.ts';
import { renderSwap } from './render-swap.ts';
import { renderCosts, renderPaperDifferences, renderTraining } from './render-training.ts';
import { type Field, fields, type Paint, terminalPaint } from './terminal-text.ts';

/** Where the results lie. */
export interface Whereabouts {
  readonly home: string;
  readonly blobDirectory: string;
  /** Absent: the embedded database of `home`. */
  readonly databaseUrl?: string;
}

const BANK_ROWS = 15;

/** Text of at most 110 columns; tables whose cells are too long are cut, never wrapped. */
export function renderDemoReport(
  report: DemoReport,
  place: Whereabouts,
  paint: Paint = terminalPaint,
): string {
  const { runs, training, grpoTraining, bank } = report;
  const sections = [
    renderArms(report.arms, paint),
    renderSelection(report.selection, report.rolloutBudget, paint),
    renderPaperDifferences(report.paperDifferences, paint),
    renderTraining(training, 'Training', paint),
    grpoTraining === null
      ? []
      : renderTraining(grpoTraining, 'Training of the ablation (GRPO, no bank)', paint),
    [paint('bold', 'Evaluations'), ...renderCosts(report.evaluationCosts, paint)],
    [
      ...renderBank(bank, { rows: BANK_ROWS, more: `clift bank show ${runs.training}`, full: false }, paint),
      '',
      ...renderBankHistory(bank),
    ],
    renderSwap(report.swap, paint),
    renderPlace(report, place, paint),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function renderPlace(report: DemoReport, place: Whereabouts, paint: Paint): string[] {
  const { runs, arms, digests } = report;
  const database =
    place.databaseUrl === undefined ? `PostgreSQL in ${place.home}` : withoutPassword(place.databaseUrl);
  return [
    paint('bold', 'Stored'),
    ...fields([
      ['runs', [...new Set([runs.training, ...arms.map(({ runId }) => runId)])].join(', ')],
      ['database', database],
      ['blobs', place.blobDirectory],
      ['digests', digestsText(digests)],
    ]),
    '',
    paint('bold', 'Next'),
    ...fields([
      ...taskCommands(report),
      [`clift show ${runs.training} step 0`, 'a training step: rollouts, judge scores, advantages'],
      [`clift bank show ${runs.training}`, 'every question with its certificates'],
      ['clift runs', 'every run, its state and its cost'],
    ]),
  ];
}

function taskCommands({ runs, exampleTask }: DemoReport): readonly Field[] {
  if (exampleTask === null) return [];
  return [
    [`clift show ${runs.clift} ${exampleTask}`, 'a task: its rollouts, votes and evidence'],
    [`clift audit ${exampleTask}`, 'the same task across all runs'],
  ];
}

const digestsText = ({ bank, adapter, selections }: DemoReport['digests']): string =>
  `bank ${shortDigest(bank)}, adapter ${shortDigest(adapter)}, selections ${shortDigest(selections)}: the same for the ` +
  'same seed and configuration on this machine';

/** Secrets stay in the environment. */
function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  return url.href;
}

import type { Polarity, Provenance, Reason } from '../../workflows/method/types.ts';
import type { BankHistory, BankSummary, CertifiedQuestion, RefusedQuestion } from './bank-summary.ts';
import { counted, shortDigest, signed } from './numbers.ts';
import { table } from './table.ts';
import { type Paint, paragraph, safeLine } from './terminal-text.ts';

/** The failed conditions of METHOD 2.3 and 2.6, in words that fit a table. */
const reasonWords: Readonly<Record<Reason, string>> = {
  neutral: 'no sign',
  n: 'too few answers',
  lift: 'no lift that way',
  evidence: 'weak evidence',
  recency: 'not lately',
  suspended: 'suspended',
  vetoed: 'contradicted',
  bank: 'not among the bank’s best',
};

/** `mined`: bank growth (CEGAR). */
const sourceWords: Readonly<Record<Provenance['source'], string>> = {
  seed: 'seed',
  cegar: 'mined',
  transfer: 'transfer',
  repair: 'repair',
};

/** At most `rows` questions of each kind; `more` names the command that shows the rest. */
export interface BankView {
  readonly rows: number;
  readonly more: string;
  /** Texts in full, on as many lines as they take. */
  readonly full: boolean;
}

export function renderBank(bank: BankSummary, view: BankView, paint: Paint): string[] {
  const { digest, questions, certified, refused } = bank;
  const name = digest === null ? 'not frozen yet' : shortDigest(digest);
  return [
    `${paint('bold', 'The bank')} ${name}: ${counted(questions, 'question')}, ` +
      `${certified.length} certified, ${refused.length} refused`,
    '',
    ...renderCertified(certified, view, paint),
    '',
    ...renderRefused(refused, view, paint),
  ];
}

function renderCertified(certified: readonly CertifiedQuestion[], view: BankView, paint: Paint): string[] {
  if (certified.length === 0) return ['No question is certified.'];
  return [
    ...table(
      [
        { title: 'certified question', wraps: view.full },
        { title: 'from' },
        { title: 'key' },
        { title: 'n', align: 'right' },
        { title: 'lift', align: 'right' },
        { title: 'weight', align: 'right' },
        { title: 'keys', align: 'right' },
      ],
      certified
        .slice(0, view.rows)
        .map(({ text, source, cells }) => [
          text,
          sourceWords[source],
          `${cells[0]?.tier} ${cells[0]?.key}`,
          String(cells[0]?.n),
          signed(cells[0]?.lift ?? null),
          signed(cells[0]?.weight ?? null),
          String(cells.length),
        ]),
      paint,
    ),
    ...moreLine(certified.length, view),
  ];
}

/** Every key at which a question is certified. */
export function renderCells(certified: readonly CertifiedQuestion[], paint: Paint): string[] {
  return [
    paint('bold', 'Every certified key'),
    ...table(
      [
        { title: 'question', wraps: true },
        { title: 'tier' },
        { title: 'key' },
        { title: 'n', align: 'right' },
        { title: 'lift', align: 'right' },
        { title: 'weight', align: 'right' },
      ],
      certified.flatMap(({ text, cells }) =>
        cells.map(({ tier, key, n, lift, weight }) => [
          text,
          tier,
          key,
          String(n),
          signed(lift),
          signed(weight),
        ]),
      ),
      paint,
    ),
  ];
}

function renderRefused(refused: readonly RefusedQuestion[], view: BankView, paint: Paint): string[] {
  if (refused.length === 0) return ['No question is refused.'];
  return [
    ...table(
      [
        { title: 'refused question', wraps: view.full },
        { title: 'from' },
        { title: 'sign' },
        { title: 'n', align: 'right' },
        { title: 'lift', align: 'right' },
        { title: 'because', wraps: view.full },
      ],
      refused
        .slice(0, view.rows)
        .map(({ text, source, polarity, nearest }) => [
          text,
          sourceWords[source],
          signOf(polarity),
          String(nearest?.n ?? 0),
          signed(nearest?.lift ?? null),
          nearest === null ? 'no judged answers' : reasonsText(nearest.reasons),
        ]),
      paint,
    ),
    ...moreLine(refused.length, view),
  ];
}

const reasonsText = (reasons: readonly Reason[]): string =>
  reasons.map((reason) => reasonWords[reason]).join(', ');

function signOf(polarity: Polarity): string {
  if (polarity === 0) return 'none';
  return polarity === 1 ? 'good' : 'bad';
}

function moreLine(total: number, { rows, more }: BankView): string[] {
  return total <= rows ? [] : [`… and ${total - rows} more: ${safeLine(more)}`];
}

export function renderBankHistory({ sources, retired, repaired }: BankHistory): string[] {
  const { seed = 0, cegar = 0 } = sources;
  return paragraph(
    `While it trained: ${counted(seed, 'seed question')}, ${cegar} mined from rationales, ` +
      `${repaired} with a repaired sign, ${retired} retired.`,
  );
}

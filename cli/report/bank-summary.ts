/** What a bank may say, what it refused to say, and where its questions came from. */

import type { BankStore, Run } from '../../bank-store/contract.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import type { Certificate, Provenance, Question, Reason, Tier } from '../../workflows/method/types.ts';
import { storedTraining } from '../stored-config.ts';

export interface BankSummary {
  /** Null while the run has not frozen it. */
  readonly digest: string | null;
  readonly questions: number;
  /** Strongest weight first. */
  readonly certified: readonly CertifiedQuestion[];
  /** Nearest to a certificate first. */
  readonly refused: readonly RefusedQuestion[];
}

interface SummarisedQuestion {
  readonly id: string;
  readonly version: number;
  readonly text: string;
  readonly polarity: Question['polarity'];
  readonly source: Provenance['source'];
}

export interface CertifiedQuestion extends SummarisedQuestion {
  /** Every key that it is certified at, strongest weight first. */
  readonly cells: readonly CertifiedCell[];
}

export interface CertifiedCell {
  readonly tier: Tier;
  readonly key: string;
  readonly n: number;
  readonly lift: number | null;
  readonly weight: number;
}

export interface RefusedQuestion extends SummarisedQuestion {
  /** The cell that fails the fewest conditions; null if no judged rollout ever answered the question. */
  readonly nearest: {
    readonly tier: Tier;
    readonly key: string;
    readonly n: number;
    readonly lift: number | null;
    readonly reasons: readonly Reason[];
  } | null;
}

export interface Bank {
  readonly questions: readonly Question[];
  readonly certificates: readonly Certificate[];
}

export function summariseBank(digest: string | null, { questions, certificates }: Bank): BankSummary {
  const cellsOf = Map.groupBy(certificates, ({ qid, version }) => questionKey(qid, version));
  const certified: CertifiedQuestion[] = [];
  const refused: RefusedQuestion[] = [];
  for (const question of questions) {
    const cells = cellsOf.get(questionKey(question.id, question.version)) ?? [];
    const speaking = cells.filter(({ reasons }) => reasons.length === 0);
    const summary = summarise(question);
    if (speaking.length > 0)
      certified.push({ ...summary, cells: speaking.toSorted(byWeight).map(certifiedCell) });
    else refused.push({ ...summary, nearest: nearestCell(cells) });
  }
  return {
    digest,
    questions: questions.length,
    certified: certified.sort((left, right) => strength(right) - strength(left)),
    refused: refused.sort(
      (left, right) => distance(left) - distance(right) || answered(right) - answered(left),
    ),
  };
}

function summarise({ id, version, text, polarity, provenance }: Question): SummarisedQuestion {
  return { id, version, text, polarity, source: provenance.source };
}

const byWeight = (left: Certificate, right: Certificate): number =>
  Math.abs(right.weight) - Math.abs(left.weight);

const certifiedCell = ({ tier, key, n, lift, weight }: Certificate): CertifiedCell => {
  return { tier, key, n, lift, weight };
};

function nearestCell(cells: readonly Certificate[]): RefusedQuestion['nearest'] {
  const [nearest] = cells.toSorted(
    (left, right) => left.reasons.length - right.reasons.length || right.n - left.n,
  );
  if (nearest === undefined) return null;
  const { tier, key, n, lift, reasons } = nearest;
  return { tier, key, n, lift, reasons };
}

const strength = ({ cells }: CertifiedQuestion): number => Math.abs(cells[0]?.weight ?? 0);
const distance = ({ nearest }: RefusedQuestion): number => nearest?.reasons.length ?? Number.MAX_VALUE;
const answered = ({ nearest }: RefusedQuestion): number => nearest?.n ?? 0;

/** What became of the questions while a run trained; the frozen bank leaves out the retired ones. */
export interface BankHistory {
  /** By where they came from, versions counted apart. */
  readonly sources: Readonly<Partial<Record<Provenance['source'], number>>>;
  readonly retired: number;
  readonly repaired: number;
}

/** Over all shards: the same question in two of them counts once. */
export async function readBankHistory(store: BankStore, run: Run): Promise<BankHistory> {
  const { shards, steps } = storedTraining(run);
  const snapshots = await Promise.all(
    Array.from({ length: shards }, (_, shard) => store.snapshotAt({ runId: run.id, shard, step: steps - 1 })),
  );
  const questions = [
    ...new Map(
      snapshots
        .flatMap((snapshot) => snapshot.questions)
        .map((question) => [questionKey(question.id, question.version), question]),
    ).values(),
  ];
  return summariseHistory(questions);
}

export function summariseHistory(questions: readonly Question[]): BankHistory {
  const sources: Partial<Record<Provenance['source'], number>> = {};
  for (const { provenance } of questions) sources[provenance.source] = (sources[provenance.source] ?? 0) + 1;
  return {
    sources,
    retired: questions.filter(({ status }) => status === 'retired').length,
    repaired: sources.repair ?? 0,
  };
}

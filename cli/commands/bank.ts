import { readBank } from '../../activities/bank-snapshot.ts';
import type { BankStore, Run } from '../../bank-store/contract.ts';
import type { Settings } from '../../workers/settings.ts';
import { findRun } from '../find.ts';
import { withStore } from '../open-store.ts';
import { type BankSummary, readBankHistory, summariseBank } from '../report/bank-summary.ts';
import { shortDigest } from '../report/numbers.ts';
import { renderBank, renderBankHistory, renderCells } from '../report/render-bank.ts';
import { minuteOf } from '../report/run-overview.ts';
import { table } from '../report/table.ts';
import { jsonLine, type Paint, terminalPaint } from '../report/terminal-text.ts';
import { storedEvaluation } from '../stored-config.ts';

interface Options {
  readonly json?: boolean;
}

export interface BankOverview {
  readonly digest: string;
  readonly runId: string;
  readonly createdAt: string;
  readonly questions: number;
  readonly certified: number;
}

/** Lists the frozen banks by the run that froze them. */
export async function listBanks(settings: Settings, { json = false }: Options): Promise<void> {
  const banks = await withStore(settings, readBankOverviews);
  console.log(json ? jsonLine(banks) : renderBankOverviews(banks, terminalPaint).join('\n'));
}

/** Shows every question of a bank; `name` is a run, a digest or the beginning of one. */
export async function showBank(settings: Settings, name: string, { json = false }: Options): Promise<void> {
  const bank = await withStore(settings, (store) => readNamedBank(store, name));
  if (json) {
    console.log(jsonLine(bank));
    return;
  }
  const { history } = bank;
  const all = { rows: Number.MAX_SAFE_INTEGER, more: '', full: true };
  const sections = [
    renderBank(bank, all, terminalPaint),
    ...(bank.certified.length > 0 ? [renderCells(bank.certified, terminalPaint)] : []),
    ...(history === null ? [] : [renderBankHistory(history)]),
  ];
  console.log(sections.map((lines) => lines.join('\n')).join('\n\n'));
}

/** Newest first. */
export async function readBankOverviews(store: BankStore): Promise<readonly BankOverview[]> {
  const runs = (await store.listRuns()).filter(({ kind }) => kind === 'train');
  const frozen = runs.flatMap(({ id, createdAt, bankDigest }) =>
    bankDigest === null ? [] : [{ runId: id, createdAt, digest: bankDigest }],
  );
  return Array.fromAsync(frozen, (bank) => readBankOverview(store, bank));
}

async function readBankOverview(
  store: BankStore,
  at: Pick<BankOverview, 'runId' | 'createdAt' | 'digest'>,
): Promise<BankOverview> {
  const { questions, certified } = summariseBank(at.digest, await store.loadBank(at.digest));
  return { ...at, questions, certified: certified.length };
}

export function renderBankOverviews(banks: readonly BankOverview[], paint: Paint): string[] {
  if (banks.length === 0) return ['No frozen bank yet; a training run freezes one at its end.'];
  return table(
    [
      { title: 'bank', whole: true },
      { title: 'frozen by', whole: true },
      { title: 'questions', align: 'right' },
      { title: 'certified', align: 'right' },
      { title: 'run started' },
    ],
    banks.map(({ digest, runId, questions, certified, createdAt }) => [
      ...[shortDigest(digest), runId, String(questions), String(certified), minuteOf(createdAt)],
    ]),
    paint,
  );
}

type NamedBank = BankSummary & { readonly history: Awaited<ReturnType<typeof readBankHistory>> | null };

export async function readNamedBank(store: BankStore, name: string): Promise<NamedBank> {
  const digest = await digestNamed(store, name);
  if (digest !== null) return { ...summariseBank(digest, await store.loadBank(digest)), history: null };
  const run = await findRun(store, name);
  return run.kind === 'train' ? readTrainedBank(store, run) : readSelectingBank(store, run);
}

/** The frozen bank, or the first shard's as it stands while the run goes on. */
async function readTrainedBank(store: BankStore, run: Run): Promise<NamedBank> {
  const history = await readBankHistory(store, run);
  if (run.bankDigest !== null) {
    return { ...summariseBank(run.bankDigest, await store.loadBank(run.bankDigest)), history };
  }
  const steps = (await store.trainingSteps(run.id)).filter(({ shard }) => shard === 0);
  const at = { runId: run.id, shard: 0, step: steps.at(-1)?.step ?? -1 };
  return { ...summariseBank(null, await readBank(store, at)), history };
}

async function readSelectingBank(store: BankStore, run: Run): Promise<NamedBank> {
  const { bankDigest } = storedEvaluation(run);
  if (bankDigest === null)
    throw new Error(`run ${run.id} selects without a bank; \`clift bank list\` lists banks`);
  return { ...summariseBank(bankDigest, await store.loadBank(bankDigest)), history: null };
}

const DIGEST = /^[0-9a-f]{8,64}$/;

/** Null where the name is no bank's; a beginning has to fit one frozen bank only. */
async function digestNamed(store: BankStore, name: string): Promise<string | null> {
  if (!DIGEST.test(name)) return null;
  const known = (await store.listRuns()).flatMap(({ bankDigest }) => bankDigest ?? []);
  const fitting = [...new Set(known)].filter((digest) => digest.startsWith(name));
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  if (others.length > 0)
    throw new Error(`${fitting.length} banks begin with ${name}; give more of the digest`);
  // A bank that another database's run froze.
  return name.length === 64 && (await store.blobs.has(name)) ? name : null;
}

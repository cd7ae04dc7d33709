import type { BankStore, Run } from '../../bank-store/contract.ts';
import { measure, type Progress } from '../progress.ts';
import { storedConfig } from '../stored-config.ts';
import { dollars } from './numbers.ts';
import { table } from './table.ts';
import { type Paint, paragraph } from './terminal-text.ts';

/** One line of `clift runs`. */
export interface RunOverview
  extends Pick<Run, 'id' | 'kind' | 'state' | 'stateReason' | 'createdAt' | 'seed'> {
  readonly progress: Progress;
  /** Calls of all purposes; cost null as soon as one price is unknown. */
  readonly modelCalls: number;
  readonly costUsd: number | null;
  /** Of a training run what it made, of an evaluation what it uses. */
  readonly bankDigest: string | null;
  readonly adapterDigest: string | null;
}

/** Newest first. */
export async function readRunOverviews(store: BankStore): Promise<readonly RunOverview[]> {
  return Array.fromAsync(await store.listRuns(), (run) => readRunOverview(store, run));
}

export async function readRunOverview(store: BankStore, run: Run): Promise<RunOverview> {
  const [progress, costs] = await Promise.all([measure(store, run), store.costs(run.id)]);
  const { id, kind, state, stateReason, createdAt, seed } = run;
  const config = storedConfig(run);
  const { bankDigest, adapterDigest } = config.kind === 'train' ? run : config;
  return {
    ...{ id, kind, state, stateReason, createdAt, seed, bankDigest, adapterDigest, progress },
    modelCalls: costs.reduce((sum, { calls }) => sum + calls, 0),
    costUsd: costs.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      0,
    ),
  };
}

/** Only where somebody may have to do something, or wonders. */
const reasonOf = ({ state, stateReason }: RunOverview): string =>
  ['paused', 'failed', 'cancelled'].includes(state) ? stateReason : '';

export function renderRunOverviews(runs: readonly RunOverview[], paint: Paint): string[] {
  if (runs.length === 0) return ['No runs yet; `clift demo` makes the first.'];
  const numeric = ['progress', 'success', 'failure', 'unscored', 'cost'];
  const lines = table(
    [
      { title: 'run', whole: true },
      ...['kind', 'state'].map((title) => ({ title })),
      ...numeric.map((title) => ({ title, align: 'right' as const })),
      { title: 'started' },
    ],
    runs.map((run) => {
      const { id, kind, state, progress, costUsd, createdAt } = run;
      const { done, total, rollouts } = progress;
      return [
        ...[id, kind, state, `${done}/${total}`],
        ...[rollouts.success, rollouts.failure, rollouts.unscored].map(String),
        ...[dollars(costUsd), minuteOf(createdAt)],
      ];
    }),
    paint,
  );
  // A reason says what to do: it stands below its run, in full.
  return lines.flatMap((line, index) => {
    const run = runs[index - 1];
    const reason = run === undefined ? '' : reasonOf(run);
    return reason === '' ? [line] : [line, ...paragraph(reason, '  ')];
  });
}

/** `2026-03-01 14:05`, UTC. */
export const minuteOf = (timestamp: string): string => timestamp.slice(0, 16).replace('T', ' ');

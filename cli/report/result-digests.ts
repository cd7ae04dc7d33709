import { createHash } from 'node:crypto';
import type { BankStore, Run } from '../../bank-store/contract.ts';

export interface ResultDigests {
  readonly bank: string | null;
  readonly adapter: string | null;
  /** Of every selection of the evaluation: candidates, votes and what was emitted. */
  readonly selections: string;
}

/** What two runs of one configuration are compared by; free of names, clocks and database ids. */
export async function readDigests(store: BankStore, training: Run, evaluation: Run): Promise<ResultDigests> {
  const selections = await store.selections(evaluation.id);
  const meaning = selections.map(({ taskId, selected, comparisons }) => [
    taskId,
    place(selected),
    comparisons.map(({ incumbent, challenger, votes, swap }) => [
      place(incumbent),
      place(challenger),
      votes.map(({ label }) => label).join(),
      swap,
    ]),
  ]);
  return {
    bank: training.bankDigest,
    adapter: training.adapterDigest,
    selections: createHash('sha256').update(JSON.stringify(meaning)).digest('hex'),
  };
}

/** A rollout's place in generation order: its id also names the run. */
const place = (rolloutId: string | null): string | null => rolloutId?.split('/').at(-1) ?? null;

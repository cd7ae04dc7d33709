/** The result of the demo as data: everything that it prints, and what `--json` gives. */

import type { BankStore, PurposeCosts, Run } from '../../bank-store/contract.ts';
import { storedConfig } from '../stored-config.ts';
import { type BankHistory, type BankSummary, readBankHistory, summariseBank } from './bank-summary.ts';
import { emittedOf, greedyOf, readTaskResults } from './evaluation-results.ts';
import { type Arm, compareArms, type SelectionEffect, selectionEffects } from './held-out.ts';
import { type PaperDifference, paperDifferences } from './paper-differences.ts';
import { type ResultDigests, readDigests } from './result-digests.ts';
import { readSwapExample, type SwapExample } from './swap-example.ts';
import { readTrainingSummary, type TrainingSummary } from './training-summary.ts';

/** Ids of the runs that the demo made. */
export interface DemoRuns {
  /** Evaluation of the base model. */
  readonly base: string;
  /** Evaluation of the trained adapter, K rollouts a task, selected by the frozen bank. */
  readonly clift: string;
  readonly training: string;
  /** The ablation: the same judge, no bank. */
  readonly grpo?: { readonly training: string; readonly evaluation: string };
}

export interface DemoReport {
  readonly runs: DemoRuns;
  readonly paperDifferences: readonly PaperDifference[];
  /** Base first. */
  readonly arms: readonly Arm[];
  /** K. */
  readonly rolloutBudget: number;
  readonly selection: readonly SelectionEffect[];
  readonly training: TrainingSummary;
  readonly grpoTraining: TrainingSummary | null;
  /** Of the evaluations together. */
  readonly evaluationCosts: readonly PurposeCosts[];
  readonly bank: BankSummary & BankHistory;
  /** Worth looking at: the swapped task, else the first of the list; null for an empty list. */
  readonly exampleTask: string | null;
  /** Null: no task swapped. */
  readonly swap: SwapExample | null;
  /** Equal for equal seeds and configurations on one machine, whatever was killed on the way. */
  readonly digests: ResultDigests;
}

/** Reads the results of finished runs; throws `NotFound` for a run that does not exist. */
export async function collectDemoReport(store: BankStore, runs: DemoRuns): Promise<DemoReport> {
  const evaluations = [runs.base, runs.clift, ...(runs.grpo ? [runs.grpo.evaluation] : [])];
  const [training, clift] = await Promise.all([store.getRun(runs.training), store.getRun(runs.clift)]);
  const configs = [training, clift].map(storedConfig);
  const cliftResults = await readTaskResults(store, runs.clift);
  const swap = await readSwapExample(store, clift, cliftResults);
  return {
    runs,
    paperDifferences: paperDifferences(configs),
    arms: await readArms(store, runs, cliftResults),
    rolloutBudget: storedConfig(clift).hyperparameters.rolloutBudget,
    selection: selectionEffects(cliftResults),
    training: await readTrainingSummary(store, training),
    grpoTraining: runs.grpo ? await readTrainingSummary(store, await store.getRun(runs.grpo.training)) : null,
    evaluationCosts: sumCosts(await Promise.all(evaluations.map((runId) => store.costs(runId)))),
    bank: await readTrainedBank(store, training),
    swap,
    exampleTask: swap?.taskId ?? cliftResults[0]?.taskId ?? null,
    digests: await readDigests(store, training, clift),
  };
}

async function readArms(
  store: BankStore,
  { base, clift, grpo }: DemoRuns,
  cliftResults: Awaited<ReturnType<typeof readTaskResults>>,
): Promise<readonly Arm[]> {
  const greedy = async (name: string, runId: string) => {
    return { name, runId, results: await readTaskResults(store, runId), emission: greedyOf };
  };
  return compareArms([
    await greedy('base', base),
    { name: 'CLIFT', runId: clift, results: cliftResults, emission: greedyOf },
    { name: 'CLIFT+CTS', runId: clift, results: cliftResults, emission: emittedOf },
    ...(grpo ? [await greedy('GRPO', grpo.evaluation)] : []),
  ]);
}

async function readTrainedBank(store: BankStore, run: Run): Promise<DemoReport['bank']> {
  const frozen = run.bankDigest === null ? emptyBank : await store.loadBank(run.bankDigest);
  return { ...summariseBank(run.bankDigest, frozen), ...(await readBankHistory(store, run)) };
}

const emptyBank = { questions: [], certificates: [] };

/** By purpose over several runs; null as soon as one price is unknown. */
export function sumCosts(costs: readonly (readonly PurposeCosts[])[]): readonly PurposeCosts[] {
  const byPurpose = new Map<PurposeCosts['purpose'], PurposeCosts>();
  for (const cost of costs.flat()) {
    const before = byPurpose.get(cost.purpose);
    byPurpose.set(cost.purpose, before === undefined ? cost : addCosts(before, cost));
  }
  return [...byPurpose.values()];
}

function addCosts(left: PurposeCosts, right: PurposeCosts): PurposeCosts {
  return {
    purpose: left.purpose,
    calls: left.calls + right.calls,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    lostReplies: left.lostReplies + right.lostReplies,
    costUsd: left.costUsd === null || right.costUsd === null ? null : left.costUsd + right.costUsd,
  };
}

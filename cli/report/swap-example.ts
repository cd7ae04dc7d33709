/** One task where votes put another rollout in the greedy one's place: what each did, and what spoke for the swap. */

import { traceOf } from '../../activities/trajectory.ts';
import { evidenceSheet } from '../../activities/verifier-scores.ts';
import type { BankStore, Comparison, Run } from '../../bank-store/contract.ts';
import { stepText } from '../../models/embedded/trace-text.ts';
import { hardAnswer } from '../../workflows/method/group-evidence.ts';
import { storedEvaluation } from '../stored-config.ts';
import {
  emittedOf,
  greedyOf,
  isSwapped,
  notFinished,
  type ReportedOutcome,
  type TaskResult,
} from './evaluation-results.ts';
import { changeOf } from './held-out.ts';

export interface SwapExample {
  readonly taskId: string;
  readonly instruction: string;
  /** Whether the swap turned a failure into a success, or the other way round. */
  readonly change: ReturnType<typeof changeOf>;
  readonly greedy: ShownRollout;
  readonly emitted: ShownRollout;
  /** Answers that differ first, then by weight. */
  readonly evidence: readonly EvidenceRow[];
  readonly comparisons: readonly Comparison[];
}

export interface ShownRollout {
  readonly rolloutId: string;
  readonly outcome: ReportedOutcome;
  /** Numbered lines. */
  readonly trace: readonly string[];
  readonly answer: string | null;
  /** Trajectory evidence V, in [-1, 1]. */
  readonly evidence: number;
}

/** One certified question at one URL state; null where that rollout never came there. */
export interface EvidenceRow {
  readonly text: string;
  readonly pathKey: string;
  readonly weight: number;
  readonly greedy: number | null;
  readonly emitted: number | null;
}

/** The most telling swap: one that won a success, else one that changed nothing, else any. Null: there was none. */
export async function readSwapExample(
  store: BankStore,
  run: Run,
  results: readonly TaskResult[],
): Promise<SwapExample | null> {
  const swapped = results.filter(isSwapped);
  const telling =
    swapped.find((result) => changeOf(result) === 'improve') ??
    swapped.find((result) => changeOf(result) === 'tie') ??
    swapped[0];
  const [greedy, emitted] = telling === undefined ? [] : [greedyOf(telling), emittedOf(telling)];
  if (telling === undefined || !greedy || !emitted) return null;
  const [task, before, after] = await Promise.all([
    store.getTask(telling.taskId),
    readShownRollout(store, run, greedy.rolloutId),
    readShownRollout(store, run, emitted.rolloutId),
  ]);
  return {
    taskId: task.id,
    instruction: task.instruction,
    change: changeOf(telling),
    greedy: before.shown,
    emitted: after.shown,
    evidence: compareSheets(before.lines, after.lines),
    comparisons: telling.selection?.comparisons ?? [],
  };
}

type SheetLines = ReturnType<typeof evidenceSheet>['lines'];

export async function readShownRollout(
  store: BankStore,
  run: Run,
  rolloutId: string,
): Promise<{ readonly shown: ShownRollout; readonly lines: SheetLines }> {
  const [rollout, answers] = await Promise.all([store.getRollout(rolloutId), store.answersOf([rolloutId])]);
  const { bankDigest, hyperparameters } = storedEvaluation(run);
  const bank = bankDigest === null ? { questions: [], certificates: [] } : await store.loadBank(bankDigest);
  const { lines, evidence } = evidenceSheet(rollout, answers, bank, hyperparameters);
  const shown = {
    rolloutId,
    outcome: rollout.finished?.outcome ?? notFinished,
    trace: traceOf(rollout).map(stepText),
    answer: rollout.finished?.answer ?? null,
    evidence,
  };
  return { shown, lines };
}

export function compareSheets(greedy: SheetLines, emitted: SheetLines): readonly EvidenceRow[] {
  const cell = ({ questionId, pathKey }: SheetLines[number]): string => JSON.stringify([questionId, pathKey]);
  const [ofGreedy, ofEmitted] = [greedy, emitted].map(
    (lines) => new Map(lines.map((line) => [cell(line), line.pYes])),
  );
  const lines = new Map([...greedy, ...emitted].map((line) => [cell(line), line]));
  return [...lines]
    .map(([key, { text, pathKey, weight }]) => {
      return {
        text,
        pathKey,
        weight,
        greedy: ofGreedy?.get(key) ?? null,
        emitted: ofEmitted?.get(key) ?? null,
      };
    })
    .sort(
      (left, right) =>
        Number(differs(right)) - Number(differs(left)) || Math.abs(right.weight) - Math.abs(left.weight),
    );
}

/** Whether the two rollouts answer the question differently, as yes or no; no answer differs from both. */
export function differs({ greedy, emitted }: EvidenceRow): boolean {
  if (greedy === null || emitted === null) return greedy !== emitted;
  return hardAnswer(greedy) !== hardAnswer(emitted);
}

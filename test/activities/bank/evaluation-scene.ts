/** An evaluation run with a frozen bank, written through the store's own API. */
import { planEvaluationTask } from '../../../activities/bank/evaluation.ts';
import { evaluateConfigSchema } from '../../../activities/run-config.ts';
import type { BankStore } from '../../../bank-store/contract.ts';
import { type Hyperparameters, paperHyperparameters } from '../../../workflows/method/hyperparameters.ts';
import type { Certificate, Question } from '../../../workflows/method/types.ts';
import { defaultUrlRules } from '../../../workflows/method/url-state.ts';
import { evaluateTaskId, rolloutId } from '../../../workflows/names.ts';
import { task as trainingTask } from '../../bank-store/fixtures.ts';
import { constantsOf, type Member, playRollout, range } from './training-scene.ts';

export const task = { ...trainingTask, id: 'sandbox/mail/held-out', split: 'heldout' as const };

export interface EvaluationSketch {
  readonly hyperparameters?: Partial<Hyperparameters>;
  readonly bankDigest?: string | null;
  readonly seed?: number;
  /** Rollouts in generation order; the greedy one first. */
  readonly members: readonly Member[];
}

/** One task of an evaluation, its rollouts played; returns their ids. */
export async function playEvaluation(
  store: BankStore,
  runId: string,
  { members, bankDigest = null, seed = 1, hyperparameters }: EvaluationSketch,
): Promise<readonly string[]> {
  const config = evaluateConfigSchema.parse({
    ...{ kind: 'evaluate', benchmark: 'sandbox', seed, adapterDigest: null, bankDigest },
    ...{ taskLimit: null, concurrency: 1 },
    hyperparameters: { rolloutBudget: members.length, ...hyperparameters },
  });
  await store.createRun({ id: runId, kind: 'evaluate', seed, identity: {}, config, codeVersion: 'v1' });
  await store.registerTasks([task]);
  await store.pinTaskList(runId, [task.id]);
  const { rollouts } = await planEvaluationTask(store, { runId, taskId: task.id });
  const rolloutIds = range(rollouts).map((index) => rolloutId(evaluateTaskId(runId, task.id), index));
  for (const [index, member] of members.entries()) await playRollout(store, rolloutIds[index] ?? '', member);
  return rolloutIds;
}

export function freezeBank(
  store: BankStore,
  runId: string,
  bank: { readonly questions: readonly Question[]; readonly certificates: readonly Certificate[] },
): Promise<string> {
  return store.freezeBank(runId, {
    schema: 1,
    constants: constantsOf(paperHyperparameters),
    normaliser: { version: 1, hostRules: defaultUrlRules },
    ...bank,
  });
}

import { z } from 'zod';
import type { BankStore, Run, StoredRollout, StoredVote } from '../../bank-store/contract.ts';
import { observationSchema } from '../../benchmarks/schemas.ts';
import type { Candidate, Selector, VoteRequest } from '../../models/contract.ts';
import { decideSoFar } from '../../workflows/method/selection.ts';
import { evaluateTaskId } from '../../workflows/names.ts';
import { readBasis } from '../basis.ts';
import type { ComparisonRef, ComparisonResult } from '../contracts.ts';
import { fault } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { mostUsdOf, paidCall } from '../paid-call.ts';
import { type EvaluateConfig, evaluateConfigSchema } from '../run-config.ts';
import { traceOf } from '../trajectory.ts';
import { type Bank, evidenceSheet } from '../verifier-scores.ts';
import type { LlmDependencies } from './dependencies.ts';

/** One comparison of the tournament chain: its votes, each journalled, until the decision stands (METHOD 6). */
export function castVotes(dependencies: LlmDependencies, ref: ComparisonRef): Promise<ComparisonResult> {
  return withHeartbeat(async (signal) => {
    const { store } = dependencies;
    const run = await store.getRun(ref.runId);
    const config = evaluateConfigSchema.parse(run.config);
    const selector = dependencies.selectorFor(config.models.selector);
    const poll: Poll = { store, selector, config, ref, ballot: await ballotOf(store, run, config, ref) };
    const votes: StoredVote[] = [];
    const decision = () =>
      decideSoFar(
        votes.map(({ label }) => label),
        config.hyperparameters,
      );
    while (decision() === 'open') votes.push(await castOne(poll, votes.length, signal));
    return { swap: decision() === 'swap', votes: votes.map(({ label }) => label) };
  });
}

interface Poll {
  readonly store: BankStore;
  readonly selector: Selector;
  readonly config: EvaluateConfig;
  readonly ref: ComparisonRef;
  readonly ballot: Ballot;
}

type Ballot = Omit<VoteRequest, 'vote' | 'seed'> & { readonly seed: VoteRequest['seed'] };

async function ballotOf(
  store: BankStore,
  run: Run,
  config: EvaluateConfig,
  { taskId, incumbent, challenger }: ComparisonRef,
): Promise<Ballot> {
  if (config.bankDigest === null) {
    throw fault(
      'SpecInvalid',
      `run ${run.id} selects without a bank`,
      'Give the run a frozen bank, or set rolloutBudget to 1',
    );
  }
  const bank = await readBasis(store.loadBank(config.bankDigest));
  const candidate = (id: string) => readCandidate(store, id, bank, config);
  return {
    task: await store.getTask(taskId),
    incumbent: await candidate(incumbent),
    challenger: await candidate(challenger),
    temperature: config.hyperparameters.voteTemperature,
    seed: [run.seed, taskId, ...(await generationOrder(store, [incumbent, challenger]))],
  };
}

/** Seeds name candidates by their place in generation order, so that equal runs with other names vote alike. */
async function generationOrder(store: BankStore, ids: readonly string[]): Promise<readonly number[]> {
  const rollouts = await Promise.all(ids.map((id) => store.getRollout(id)));
  return rollouts.map(({ rollout }) => rollout.index);
}

async function readCandidate(
  store: BankStore,
  rolloutId: string,
  bank: Bank,
  { hyperparameters }: EvaluateConfig,
): Promise<Candidate> {
  const rollout = await store.getRollout(rolloutId);
  return {
    sheet: evidenceSheet(rollout, await store.answersOf([rolloutId]), bank, hyperparameters),
    trace: traceOf(rollout),
    answer: rollout.finished?.answer ?? null,
    finalObservation: await readFinalObservation(store, rollout),
  };
}

async function readFinalObservation(store: BankStore, { finished }: StoredRollout) {
  const digest = finished?.finalObservationDigest ?? null;
  return digest === null ? null : observationSchema.parse(await store.blobs.getJson(digest));
}

const replySchema = z.object({ label: z.enum(['A', 'B', 'TIE', 'INVALID']), reason: z.string() });

/** A reply that is no vote is asked for once more; then it counts as INVALID (METHOD 6). */
async function castOne(poll: Poll, vote: number, signal: AbortSignal): Promise<StoredVote> {
  const { ballot, config } = poll;
  const first = await askSelector(poll, { ...ballot, vote, seed: [...ballot.seed, vote] }, vote, signal);
  if (first.label !== 'INVALID') return first;
  const seed = [...ballot.seed, vote, 'again'];
  return askSelector(poll, { ...ballot, vote, seed }, config.hyperparameters.votes + vote, signal);
}

async function askSelector(
  { store, selector, config, ref }: Poll,
  request: VoteRequest,
  ordinal: number,
  signal: AbortSignal,
): Promise<StoredVote> {
  const { runId, taskId, incumbent, challenger } = ref;
  const reply = await paidCall(store, {
    key: { runId, purpose: 'selector', owner: `${taskId}/${incumbent}/${challenger}`, ordinal },
    task: [evaluateTaskId(runId, taskId), taskId],
    ceilings: config.ceilings,
    model: selector.identity,
    request,
    ...{ mostUsd: mostUsdOf(selector, request), signal },
    ask: async () => {
      const { label, reason, cost } = await selector.vote(request, signal);
      return { reply: { label, reason }, cost };
    },
  });
  return { vote: request.vote, ...replySchema.parse(reply) };
}

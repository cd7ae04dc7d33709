import { z } from 'zod';
import type { BankStore } from '../../bank-store/contract.ts';
import type {
  ProposeRequest,
  ProposerTrajectory,
  QuestionDraft,
  UndiscriminatedPair,
} from '../../models/contract.ts';
import { deficiency, groupDeficiency, pairsToPropose } from '../../workflows/method/deficiency.ts';
import { duplicateKind } from '../../workflows/method/duplicates.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { parseAssertion } from '../../workflows/method/parse-assertion.ts';
import type { Question } from '../../workflows/method/types.ts';
import { urlState } from '../../workflows/method/url-state.ts';
import { trainStepId } from '../../workflows/names.ts';
import { readBank } from '../bank-snapshot.ts';
import type { JudgeActivities, TrainingStepRef } from '../contracts.ts';
import { type JudgedRollout, readGroup, readJudgedRollouts, type ScoredGroup } from '../group.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { mostUsdOf, paidCall } from '../paid-call.ts';
import { draftedQuestion } from '../question-id.ts';
import { trainConfigSchema } from '../run-config.ts';
import { statesOf, traceOf } from '../trajectory.ts';
import { type Bank, evidenceSheet } from '../verifier-scores.ts';
import type { JudgeDependencies } from './dependencies.ts';

type Growth = Awaited<ReturnType<JudgeActivities['growBank']>>;

/** METHOD 5.1 to 5.3: mines questions from the pairs that the bank fails to separate. */
export function growBank({ store, proposerFor }: JudgeDependencies, at: TrainingStepRef): Promise<Growth> {
  return withHeartbeat(async (signal) => {
    const run = await store.getRun(at.runId);
    const { hyperparameters, models, ceilings } = trainConfigSchema.parse(run.config);
    const bank = await readBankToGrow(store, at);
    const recent = await readRecentGroups(store, at, hyperparameters);
    const measured = recent.map((group) => measure(group, bank, hyperparameters));
    const pairs = await readPairs(store, recent, measured, hyperparameters);
    const before = deficiency(
      measured.map(({ scores, evidences }) => groupDeficiency(scores, evidences, hyperparameters)),
    );
    if (pairs.length === 0) return { proposed: 0, accepted: 0, deficiency: before };

    const request: ProposeRequest = {
      pairs,
      uncoveredHosts: uncoveredHosts(recent, bank),
      existing: bank.questions,
      count: { min: hyperparameters.growMinQuestions, max: hyperparameters.growMaxQuestions },
      seed: [run.seed, at.shard, at.step, 'propose'],
    };
    const owner = trainStepId(at.runId, at.shard, at.step);
    const proposer = proposerFor(models.proposer);
    const reply = await paidCall(store, {
      key: { runId: at.runId, purpose: 'proposer', owner, ordinal: 0 },
      task: [owner],
      ceilings,
      model: proposer.identity,
      request,
      ...{ mostUsd: mostUsdOf(proposer, request), signal },
      ask: async () => {
        const { drafts, cost } = await proposer.propose(request, signal);
        return { reply: drafts, cost };
      },
    });
    const drafts = readDrafts(reply);
    const accepted = acceptable(drafts, bank.questions, hyperparameters.growMaxQuestions, at);
    await store.saveQuestions(at, accepted);
    return { proposed: drafts.length, accepted: accepted.length, deficiency: before };
  });
}

/** Without what this very growth added: a repeat asks what its first try asked, and finds the reply in the journal. */
async function readBankToGrow(store: BankStore, at: TrainingStepRef): Promise<Bank> {
  const [bank, before] = await Promise.all([
    readBank(store, at),
    store.snapshotAt({ ...at, step: at.step - 1 }),
  ]);
  // Repaired versions are new, their ids are not.
  const known = new Set(before.questions.map(({ id }) => id));
  return { ...bank, questions: bank.questions.filter(({ id }) => known.has(id)) };
}

interface RecentGroup extends ScoredGroup {
  readonly judged: readonly JudgedRollout[];
}

/** Groups of the last M training steps, oldest first; those that were not judged say nothing. */
async function readRecentGroups(
  store: BankStore,
  { runId, shard, step }: TrainingStepRef,
  { growEverySteps }: Hyperparameters,
): Promise<readonly RecentGroup[]> {
  const first = Math.max(0, step + 1 - growEverySteps);
  const groups: RecentGroup[] = [];
  for (let at = first; at <= step; at += 1) {
    const group = await readGroup(store, trainStepId(runId, shard, at));
    const judged = await readJudgedRollouts(store, group);
    if (judged.length > 0) groups.push({ ...group, judged });
  }
  return groups;
}

function measure({ group, judged }: RecentGroup, bank: Bank, hyperparameters: Hyperparameters) {
  return {
    groupId: group.id,
    scores: judged.map(({ judgement }) => judgement.score),
    evidences: judged.map(
      ({ rollout, answers }) => evidenceSheet(rollout, answers, bank, hyperparameters).evidence,
    ),
  };
}

async function readPairs(
  store: BankStore,
  groups: readonly RecentGroup[],
  measured: readonly ReturnType<typeof measure>[],
  hyperparameters: Hyperparameters,
): Promise<readonly UndiscriminatedPair[]> {
  const pairs: UndiscriminatedPair[] = [];
  for (const { groupId, better, worse } of pairsToPropose(measured, hyperparameters)) {
    const from = groups.find(({ group }) => group.id === groupId);
    const [winner, loser] = [from?.judged[better], from?.judged[worse]];
    if (from === undefined || winner === undefined || loser === undefined) continue;
    pairs.push({
      groupId,
      task: from.task,
      better: await readShown(store, from, winner),
      worse: await readShown(store, from, loser),
    });
  }
  return pairs;
}

async function readShown(
  store: BankStore,
  { task }: RecentGroup,
  { rollout, judgement }: JudgedRollout,
): Promise<ProposerTrajectory> {
  const states = await statesOf(store.blobs, task, rollout);
  return {
    rolloutId: rollout.rollout.id,
    judgeScore: judgement.score,
    rationale: judgement.rationale,
    trace: traceOf(rollout),
    states: states.map(({ seen }) => seen),
  };
}

/** Hosts with traffic on which no question is certified at any tier of their own. */
function uncoveredHosts(groups: readonly RecentGroup[], bank: Bank): readonly string[] {
  const covered = new Set(
    bank.certificates
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ key }) => key.replace(/^[ph]:/, '').split('/')[0]),
  );
  const visited = groups.flatMap(({ judged }) =>
    judged.flatMap(({ rollout }) => rollout.steps.map(({ urlBefore }) => urlState(urlBefore).hostKey)),
  );
  return [...new Set(visited)].filter((host) => !covered.has(host)).sort();
}

const draftSchema = z.object({
  text: z.string().min(1),
  scope: z.string().min(1),
  polarity: z.union([z.literal(1), z.literal(-1), z.literal(0)]),
  assertion: z.unknown().transform((json, context) => {
    try {
      return json === null ? null : parseAssertion(json);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  }),
  groupId: z.string().min(1),
});

/** Drafts without the right shape are dropped: a proposer's slip must not end a run of days. */
function readDrafts(reply: unknown): readonly QuestionDraft[] {
  return z
    .array(z.unknown())
    .parse(reply)
    .flatMap((draft) => draftSchema.safeParse(draft).data ?? []);
}

/** The first drafts that repeat no question of the bank and none of each other (METHOD 5.3). */
function acceptable(
  drafts: readonly QuestionDraft[],
  existing: readonly Question[],
  atMost: number,
  at: TrainingStepRef,
): readonly Question[] {
  const accepted: Question[] = [];
  for (const draft of drafts) {
    const isRepeat = [...existing, ...accepted].some((question) => duplicateKind(draft, question) !== null);
    if (!isRepeat && accepted.length < atMost) accepted.push(draftedQuestion(draft, at));
  }
  return accepted;
}

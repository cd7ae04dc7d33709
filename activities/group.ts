/** One group as judging, certification, the batch and bank growth read it. */

import type {
  BankStore,
  NewGroup,
  StoredAnswer,
  StoredJudgement,
  StoredRollout,
} from '../bank-store/contract.ts';
import type { Task } from '../benchmarks/contract.ts';

export interface ScoredGroup {
  readonly group: NewGroup;
  readonly task: Task;
  /** Rollouts with a verdict, in generation order: unscored ones are shown to nobody (invariant 1). */
  readonly rollouts: readonly StoredRollout[];
}

/** A scored rollout beside what the judge and the self-verifier said of it. */
export interface JudgedRollout {
  readonly rollout: StoredRollout;
  readonly judgement: StoredJudgement;
  readonly answers: readonly StoredAnswer[];
}

export async function readGroup(store: BankStore, groupId: string): Promise<ScoredGroup> {
  const group = await store.getGroup(groupId);
  const [task, rollouts] = await Promise.all([store.getTask(group.taskId), store.rolloutsOf(groupId)]);
  return { group, task, rollouts: rollouts.filter(isScored) };
}

/** Only rollouts that the judge scored, in generation order; none if the group was not judged. */
export async function readJudgedRollouts(
  store: BankStore,
  { group, rollouts }: ScoredGroup,
): Promise<readonly JudgedRollout[]> {
  const [judgements, answers] = await Promise.all([
    store.judgementsOf(group.id),
    store.answersOf(rollouts.map(({ rollout }) => rollout.id)),
  ]);
  const judgementOf = new Map(judgements.map((judgement) => [judgement.rolloutId, judgement]));
  const answersOf = Map.groupBy(answers, (answer) => answer.rolloutId);
  return rollouts.flatMap((rollout) => {
    const judgement = judgementOf.get(rollout.rollout.id);
    if (judgement === undefined) return [];
    return [{ rollout, judgement, answers: answersOf.get(rollout.rollout.id) ?? [] }];
  });
}

export function isScored({ finished }: StoredRollout): boolean {
  return finished !== null && finished.outcome.kind !== 'unscored';
}

import { finite, roundingSlack, sameLength, unit, within } from './checks.ts';
import type { Hyperparameters } from './hyperparameters.ts';

export type DeficiencyConstants = Pick<Hyperparameters, 'scoreGap' | 'evidenceGap' | 'thetaJ'>;

/** Judge scores S and trajectory evidences V of one group's rollouts. */
export interface ScoredGroup {
  readonly groupId: string;
  readonly scores: readonly number[];
  readonly evidences: readonly number[];
}

export interface GroupDeficiency {
  /** Score gaps of the pairs that the judge separates, and of those among them that the bank does not. */
  readonly total: number;
  readonly undiscriminated: number;
  /** Undiscriminated pair with the largest gap, the better rollout first. */
  readonly worst: readonly [better: number, worse: number] | null;
}

/** METHOD 5.1 for one group. */
export function groupDeficiency(
  scores: readonly number[],
  evidences: readonly number[],
  constants: DeficiencyConstants,
): GroupDeficiency {
  sameLength('evidences', evidences.length, scores.length);
  for (const score of scores) unit('judge score', score);
  for (const evidence of evidences) within('trajectory evidence', evidence, -1, 1);

  let [total, undiscriminated, widest] = [0, 0, 0];
  let worst: GroupDeficiency['worst'] = null;
  for (const [i, better] of scores.entries()) {
    for (const [j, worse] of scores.entries()) {
      if (!judgeSeparates(better, worse, constants)) continue;
      const gap = better - worse;
      total += gap;
      const evidenceGap = (evidences[i] ?? 0) - (evidences[j] ?? 0);
      if (evidenceGap >= constants.evidenceGap - roundingSlack) continue;
      undiscriminated += gap;
      if (gap > widest) {
        widest = gap;
        worst = [i, j];
      }
    }
  }
  return { total, undiscriminated, worst };
}

function judgeSeparates(better: number, worse: number, { scoreGap, thetaJ }: DeficiencyConstants): boolean {
  if (better <= worse) return false;
  return better - worse >= scoreGap - roundingSlack || (better >= thetaJ && thetaJ > worse);
}

/** Share of what the judge separates that the bank does not, in [0, 1]; 0 where the judge separates nothing. */
export function deficiency(groups: readonly GroupDeficiency[]): number {
  let [total, undiscriminated] = [0, 0];
  for (const group of groups) {
    total += group.total;
    undiscriminated += group.undiscriminated;
  }
  return total === 0 ? 0 : finite('deficiency', undiscriminated / total);
}

export interface ProposalPair {
  readonly groupId: string;
  readonly better: number;
  readonly worse: number;
}

/** The pairs to show the proposer: the worst pair of each of the least discriminated groups, earlier ones first. */
export function pairsToPropose(
  groups: readonly ScoredGroup[],
  constants: DeficiencyConstants & Pick<Hyperparameters, 'growGroups'>,
): ProposalPair[] {
  return groups
    .map((group) => ({
      groupId: group.groupId,
      ...groupDeficiency(group.scores, group.evidences, constants),
    }))
    .sort((a, b) => b.undiscriminated - a.undiscriminated)
    .slice(0, constants.growGroups)
    .flatMap(({ groupId, worst }) => (worst ? [{ groupId, better: worst[0], worse: worst[1] }] : []));
}

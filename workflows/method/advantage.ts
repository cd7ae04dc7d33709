import { finite, sameLength } from './checks.ts';
import { type AdvantageConstants, grpoAdvantages, standardise } from './grpo.ts';
import type { UrlState } from './types.ts';

/** 0: same path key, 1: same host key, 2: any URL (all at the same step of the group), 3: the GRPO advantage. */
export type AdvantageLevel = 0 | 1 | 2 | 3;

export interface StepAdvantage {
  readonly advantage: number;
  readonly level: AdvantageLevel;
}

/** One judged rollout of the group: the return and the URL state of every step. */
export interface AdvantageRollout {
  readonly returns: readonly number[];
  readonly states: readonly UrlState[];
  /** Trajectory judge score. */
  readonly score: number;
}

const strata = [
  (state: UrlState): string => state.pathKey,
  (state: UrlState): string => state.hostKey,
  (): string => '',
] as const;

/**
 * METHOD 4.4: URL-stratified advantages of one group, by rollout and step. Each member takes the first level
 * whose stratum is large enough and varies; a stratum's statistics are over all its members, also those that
 * a finer level settled. Steps are never pooled: returns of different steps differ by construction.
 */
export function stratifiedAdvantages(
  group: readonly AdvantageRollout[],
  constants: AdvantageConstants,
): StepAdvantage[][] {
  for (const rollout of group) {
    sameLength('states', rollout.states.length, rollout.returns.length);
    for (const value of rollout.returns) finite('return', value);
  }
  const baseline = grpoAdvantages(
    group.map((rollout) => rollout.score),
    constants,
  );
  const advantages = group.map((rollout, i) =>
    rollout.returns.map((): StepAdvantage => ({ advantage: baseline[i] ?? 0, level: 3 })),
  );
  const longest = Math.max(0, ...group.map((rollout) => rollout.returns.length));
  for (let t = 0; t < longest; t++) settleStep(group, t, constants, advantages);
  return advantages;
}

/** Writes the advantages of step t, from the broadest stratum to the finest, so that the finest one stays. */
function settleStep(
  group: readonly AdvantageRollout[],
  t: number,
  constants: AdvantageConstants,
  advantages: StepAdvantage[][],
): void {
  for (const level of [2, 1, 0] as const) {
    for (const members of membersByStratum(group, t, strata[level])) {
      const values = members.map((i) => group[i]?.returns[t] ?? 0);
      for (const [m, advantage] of (standardise(values, constants) ?? []).entries()) {
        const row = advantages[members[m] ?? -1];
        if (row) row[t] = { advantage, level };
      }
    }
  }
}

/** Rollout indices that reached step t, one list a stratum. */
function membersByStratum(
  group: readonly AdvantageRollout[],
  t: number,
  stratumOf: (state: UrlState) => string,
): number[][] {
  const members = new Map<string, number[]>();
  for (const [i, rollout] of group.entries()) {
    const state = rollout.states[t];
    if (state === undefined) continue;
    const stratum = stratumOf(state);
    members.set(stratum, [...(members.get(stratum) ?? []), i]);
  }
  return [...members.values()];
}

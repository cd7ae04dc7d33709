import { unit } from './checks.ts';
import type { Cell, Observation, TrackerObservation } from './types.ts';
import { tierKeys } from './url-state.ts';

/** What one group tells one tracker. */
export interface CellObservations extends Cell {
  readonly groupId: string;
  /** One per rollout, in the order in which the rollouts first appear. */
  readonly observations: readonly TrackerObservation[];
}

/**
 * METHOD 1.1: from answers at URL states to at most one observation per (rollout, tracker). Several answers of a
 * rollout under one key are averaged, or a long rollout would count many times. Neither order of cells nor of
 * groups depends on anything but the order of the answers.
 */
export function observationsByCell(answers: readonly Observation[]): CellObservations[] {
  const cells = new Map<string, { cell: Cell; groupId: string; rollouts: Map<string, Answered> }>();
  for (const answer of answers) {
    unit('pYes', answer.pYes);
    unit('judge', answer.judge);
    for (const { tier, key } of tierKeys(answer.url)) {
      const cell = { qid: answer.qid, version: answer.version, tier, key };
      const id = JSON.stringify([answer.groupId, cell.qid, cell.version, key]);
      const seen = cells.get(id) ?? { cell, groupId: answer.groupId, rollouts: new Map<string, Answered>() };
      cells.set(id, seen);
      const rollout = seen.rollouts.get(answer.rolloutId) ?? { sum: 0, count: 0, judge: answer.judge };
      seen.rollouts.set(answer.rolloutId, {
        ...rollout,
        sum: rollout.sum + answer.pYes,
        count: rollout.count + 1,
      });
    }
  }
  return [...cells.values()].map(({ cell, groupId, rollouts }) => ({
    ...cell,
    groupId,
    observations: [...rollouts.values()].map((r) => ({ pYes: r.sum / r.count, judge: r.judge })),
  }));
}

interface Answered {
  readonly sum: number;
  readonly count: number;
  readonly judge: number;
}

import { z } from 'zod';
import type { NewRollout, RolloutStore, StoredRollout } from './contract.ts';
import { type Database, only, type Parameter, type Session } from './database.ts';
import { OUTCOME } from './grades.ts';
import { insertImmutable } from './immutable.ts';
import { attemptRow, finishedRow, rolloutCountsRow, rolloutRow, stepRow } from './schemas/rows.ts';

export function rolloutStore(database: Database): RolloutStore {
  return {
    openRollouts: (rollouts) => database.transaction((session) => insertRollouts(session, rollouts)),
    getRollout: async (rolloutId) =>
      only(await readRollouts(database, 'rollouts.id = $1', rolloutId), noRollout(rolloutId)),
    rolloutsOf: (ownerId) => readRollouts(database, 'rollouts.owner_id = $1', ownerId),
    attemptsOf: (rolloutId) =>
      database.rows(
        attemptRow,
        `select attempt, worker, coalesce(ending, 'open') as ending, request_log_digest,
                (select count(*)::integer from steps
                  where steps.rollout_id = attempts.rollout_id and steps.attempt = attempts.attempt) as steps
           from attempts where rollout_id = $1 order by attempt`,
        [rolloutId],
      ),
    rolloutCounts: async (runId) => {
      const rows = await database.rows(
        rolloutCountsRow,
        `select count(*) filter (where outcome_kind is null)::integer as open,
                count(*) filter (where outcome_kind = 'success')::integer as success,
                count(*) filter (where outcome_kind = 'failure')::integer as failure,
                count(*) filter (where outcome_kind = 'unscored')::integer as unscored
           from rollouts where run_id = $1`,
        [runId],
      );
      return only(rows, `run "${runId}" cannot be counted`);
    },
  };
}

export async function insertRollouts(session: Session, rollouts: readonly NewRollout[]): Promise<void> {
  await insertImmutable(session, {
    table: 'rollouts',
    key: ['id'],
    rows: rollouts,
    remedy: 'a rollout is planned once; check that the plan is deterministic',
  });
}

export const noRollout = (rolloutId: string) => `there is no rollout "${rolloutId}": open it first`;

/** Endings are read before steps: whatever has ended gets no more steps. */
async function readRollouts(
  session: Session,
  condition: string,
  parameter: Parameter,
): Promise<readonly StoredRollout[]> {
  const from = `from rollouts where ${condition}`;
  const rollouts = await session.rows(rolloutRow, `select * ${from} order by index`, [parameter]);
  const endings = await session.rows(
    finishedRow.extend({ id: z.string() }),
    `select *, ${OUTCOME} ${from} and finished_at is not null`,
    [parameter],
  );
  const steps = await session.rows(
    stepRow.extend({ rolloutId: z.string() }),
    `select steps.*
       from steps join rollouts on rollouts.id = steps.rollout_id and rollouts.attempt = steps.attempt
      where ${condition} order by steps.index`,
    [parameter],
  );
  const endingOf = new Map(endings.map(({ id, ...ending }) => [id, ending]));
  const stepsOf = Map.groupBy(steps, ({ rolloutId }) => rolloutId);
  return rollouts.map((rollout) => ({
    rollout,
    finished: endingOf.get(rollout.id) ?? null,
    steps: (stepsOf.get(rollout.id) ?? []).map(({ rolloutId: _, ...step }) => step),
  }));
}

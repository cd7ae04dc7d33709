import { z } from 'zod';
import type { Outcome } from '../activities/contracts.ts';
import type { Grade, GradeStore } from './contract.ts';
import { type Database, only, type Session } from './database.ts';
import { NotFound } from './errors.ts';
import { insertImmutable } from './immutable.ts';
import { gradeRow } from './schemas/rows.ts';

export function gradeStore(database: Database): GradeStore {
  return {
    gradeRollout: (rolloutId, grade) =>
      database.transaction(async (session) => {
        const rows = await session.rows(
          z.object({ finished: z.boolean() }),
          'select finished_at is not null as finished from rollouts where id = $1 for no key update',
          [rolloutId],
        );
        const { finished } = only(rows, `there is no rollout "${rolloutId}" to grade`);
        if (!finished) throw new NotFound(`rollout "${rolloutId}" has not finished: grade it when it has`);
        if (await insertGrade(session, rolloutId, grade)) {
          await session.execute(
            'update rollouts set outcome_kind = $2, outcome_cause = $3, verdict_message = $4 where id = $1',
            [rolloutId, grade.outcome.kind, causeOf(grade.outcome), grade.message],
          );
        }
      }),
    gradesOf: (rolloutId) =>
      database.rows(
        gradeRow,
        `select grader, ref, message, ${OUTCOME},
                case when author is not null then json_build_object('author', author, 'reason', reason) end as edit
           from grades where rollout_id = $1 order by id`,
        [rolloutId],
      ),
  };
}

/** The columns `outcome_kind` and `outcome_cause` as an `Outcome`. */
export const OUTCOME = `json_strip_nulls(json_build_object('kind', outcome_kind, 'cause', outcome_cause)) as outcome`;

export const causeOf = (outcome: Outcome) => (outcome.kind === 'unscored' ? outcome.cause : null);

/** False if the same grade is there already. */
export async function insertGrade(session: Session, rolloutId: string, grade: Grade): Promise<boolean> {
  const { grader, ref, outcome, message, edit } = grade;
  const inserted = await insertImmutable(session, {
    table: 'grades',
    key: ['rollout_id', 'grader', 'ref'],
    rows: [
      {
        rolloutId,
        grader,
        ref,
        outcomeKind: outcome.kind,
        outcomeCause: causeOf(outcome),
        message,
        author: edit?.author ?? null,
        reason: edit?.reason ?? null,
      },
    ],
    remedy: 'verdicts stay as they were given; give the new one another ref',
  });
  return inserted === 1;
}

import type { AnswerStore } from './contract.ts';
import { type Database, insertRows } from './database.ts';
import { ContentConflict, NotFound } from './errors.ts';
import { answerRow } from './schemas/rows.ts';

export function answerStore(database: Database): AnswerStore {
  return {
    saveAnswers: (rolloutId, answers) =>
      database.transaction(async (session) => {
        const stray = answers.find((answer) => answer.rolloutId !== rolloutId);
        if (stray !== undefined) {
          throw new ContentConflict(
            `an answer of rollout "${stray.rolloutId}" among those of "${rolloutId}"`,
          );
        }
        // Two writers replace one after the other, never half and half.
        const found = await session.execute('select 1 from rollouts where id = $1 for no key update', [
          rolloutId,
        ]);
        if (found === 0) throw new NotFound(`there is no rollout "${rolloutId}" to answer for`);
        await session.execute('delete from answers where rollout_id = $1', [rolloutId]);
        await insertRows(
          session,
          'answers',
          answers.map((answer, position) => ({ ...answer, position })),
        );
      }),
    answersOf: (rolloutIds) =>
      database.rows(
        answerRow,
        `select answers.*
           from unnest($1::text[]) with ordinality as asked (rollout_id, place)
           join answers using (rollout_id)
          order by asked.place, answers.position`,
        [rolloutIds],
      ),
  };
}

import type { JudgementStore } from './contract.ts';
import type { Database } from './database.ts';
import { insertImmutable } from './immutable.ts';
import { judgementRow } from './schemas/rows.ts';

export function judgementStore(database: Database): JudgementStore {
  return {
    saveJudgements: (groupId, judgements) =>
      database.transaction(async (session) => {
        await insertImmutable(session, {
          table: 'judgements',
          key: ['group_id', 'rollout_id'],
          rows: judgements.map((judgement) => ({ groupId, ...judgement })),
          remedy: 'a group is judged once, and its reply is journalled; judge again under another run',
        });
      }),
    judgementsOf: (groupId) =>
      database.rows(
        judgementRow,
        `select rollout_id, score, step_scores, rationale
           from judgements join rollouts on rollouts.id = rollout_id
          where group_id = $1
          order by rollouts.index`,
        [groupId],
      ),
  };
}

import type { GroupStore } from './contract.ts';
import { type Database, only } from './database.ts';
import { insertImmutable } from './immutable.ts';
import { insertRollouts } from './rollouts.ts';
import { groupRow } from './schemas/rows.ts';

export function groupStore(database: Database): GroupStore {
  return {
    openGroup: (group, rollouts) =>
      database.transaction(async (session) => {
        await insertImmutable(session, {
          table: 'groups',
          key: ['id'],
          rows: [group],
          remedy: 'a training step has one group, planned once; check that the plan is deterministic',
        });
        await insertRollouts(session, rollouts);
      }),
    getGroup: async (groupId) =>
      only(
        await database.rows(
          groupRow,
          'select id, run_id, shard, step, task_id, adapter_digest from groups where id = $1',
          [groupId],
        ),
        `there is no group "${groupId}": plan its training step first`,
      ),
  };
}

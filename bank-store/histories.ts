import type { HistoryStore } from './contract.ts';
import { type Database, insertRows } from './database.ts';
import { historyRow, latestCloseRow } from './schemas/rows.ts';

export function historyStore(database: Database): HistoryStore {
  return {
    // A closed history never changes, so whoever exports it second writes what is there.
    saveHistory: async (history) => {
      await insertRows(database, 'workflow_histories', [history]);
    },
    historiesOf: (runId) =>
      database.rows(
        historyRow,
        'select * from workflow_histories where run_id = $1 order by closed_at, workflow_id, execution_id',
        [runId],
      ),
    latestClose: async () => {
      const [row] = await database.rows(
        latestCloseRow,
        'select max(closed_at) as closed_at from workflow_histories',
      );
      return row?.closedAt ?? null;
    },
  };
}

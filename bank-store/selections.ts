import { z } from 'zod';
import type { Comparison, Selection, SelectionStore } from './contract.ts';
import type { Database } from './database.ts';
import { insertImmutable } from './immutable.ts';
import { noteCodeVersion } from './runs.ts';
import { digest, voteRow } from './schemas/rows.ts';
import { schemaFor } from './schemas/schema-for.ts';

const comparisonSchema = schemaFor<Comparison>()(
  z.strictObject({
    incumbent: z.string(),
    challenger: z.string(),
    votes: z.array(voteRow),
    swap: z.boolean(),
  }),
);

const selectionRow = schemaFor<Selection>()(
  z.object({
    runId: z.string(),
    taskId: z.string(),
    bankDigest: digest.nullable(),
    selected: z.string().nullable(),
    comparisons: z.array(comparisonSchema),
    codeVersion: z.string(),
  }),
);

export function selectionStore(database: Database): SelectionStore {
  const read = (condition: string, parameters: readonly string[]) =>
    database.rows(selectionRow, `select * from selections where ${condition} order by task_id`, parameters);
  return {
    saveSelection: (selection) =>
      database.transaction(async (session) => {
        await insertImmutable(session, {
          table: 'selections',
          key: ['run_id', 'task_id'],
          rows: [selection],
          remedy: 'a task is decided once a run; use what-if, or select again under another run',
        });
        await noteCodeVersion(session, selection.runId, selection.codeVersion);
      }),
    selectionOf: async (runId, taskId) =>
      (await read('run_id = $1 and task_id = $2', [runId, taskId]))[0] ?? null,
    selections: (runId) => read('run_id = $1', [runId]),
  };
}

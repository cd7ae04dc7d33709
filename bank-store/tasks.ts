import { z } from 'zod';
import { taskSchema } from '../benchmarks/schemas.ts';
import { digestOf } from './canonical-json.ts';
import type { TaskStore } from './contract.ts';
import { type Database, insertRows, only, type Session } from './database.ts';
import { ContentConflict } from './errors.ts';
import { insertImmutable } from './immutable.ts';

export function taskStore(database: Database): TaskStore {
  return {
    registerTasks: (tasks) =>
      database.transaction(async (session) => {
        await insertImmutable(session, {
          table: 'tasks',
          key: ['id'],
          rows: tasks
            .map((given) => taskSchema.parse(given))
            .map((task) => ({
              id: task.id,
              benchmark: task.benchmark,
              app: task.app,
              split: task.split,
              provenance: task.provenance,
              document: task,
            })),
          remedy: 'tasks never change, so give the new task another id, or use another database',
        });
      }),
    getTask: async (taskId) => {
      const rows = await database.rows(
        z.object({ document: taskSchema }),
        'select document from tasks where id = $1',
        [taskId],
      );
      return only(rows, `there is no task "${taskId}": register the benchmark's tasks first`).document;
    },
    pinTaskList: (runId, taskIds) => database.transaction((session) => pinTaskList(session, runId, taskIds)),
    taskList: async (runId) => {
      const rows = await database.rows(
        z.object({ taskId: z.string() }),
        'select task_id from task_list_entries where run_id = $1 order by position',
        [runId],
      );
      return rows.map(({ taskId }) => taskId);
    },
  };
}

async function pinTaskList(session: Session, runId: string, taskIds: readonly string[]): Promise<string> {
  if (new Set(taskIds).size < taskIds.length) {
    throw new ContentConflict(`the task list of run "${runId}" names a task twice: name each once`);
  }
  const digest = digestOf(taskIds);
  const fresh = (await insertRows(session, 'task_lists', [{ runId, digest }])) === 1;
  if (fresh) {
    await insertRows(
      session,
      'task_list_entries',
      taskIds.map((taskId, position) => ({ runId, position, taskId })),
    );
    return digest;
  }
  const [pinned] = await session.rows(
    z.object({ digest: z.string() }),
    'select digest from task_lists where run_id = $1',
    [runId],
  );
  if (pinned?.digest === digest) return digest;
  throw new ContentConflict(
    `run "${runId}" has another task list (${pinned?.digest}): lists are fixed at the start, so start another run`,
  );
}

import { canonicalJson, digestOf } from './canonical-json.ts';
import type { TrainingStepRow, TrainingStepStore } from './contract.ts';
import { type Database, insertRows, only, type Session } from './database.ts';
import { ContentConflict } from './errors.ts';
import { noteCodeVersion } from './runs.ts';
import { trainingStepRow } from './schemas/rows.ts';

export function trainingStepStore(database: Database): TrainingStepStore {
  return {
    commitTrainingStep: (row) => database.transaction((session) => commit(session, row)),
    trainingStep: async ({ runId, shard, step }) => (await read(database, runId, shard, step))[0] ?? null,
    trainingSteps: (runId) =>
      database.rows(trainingStepRow, 'select * from training_steps where run_id = $1 order by shard, step', [
        runId,
      ]),
  };
}

async function commit(session: Session, row: TrainingStepRow): Promise<TrainingStepRow> {
  const { runId, shard, step } = row;
  await insertRows(session, 'training_steps', [{ ...row, contentDigest: contentDigest(row) }]);
  const name = `training step ${step} of shard ${shard} of run "${runId}"`;
  const stored = only(await read(session, runId, shard, step), `${name} vanished`);
  if (contentDigest(stored) !== contentDigest(row)) {
    throw new ContentConflict(
      `${name} was committed before, as ${canonicalJson(stored)}: a step is committed once; find out why it changed`,
    );
  }
  await noteCodeVersion(session, runId, row.codeVersion);
  return stored;
}

const read = (session: Session, runId: string, shard: number, step: number) =>
  session.rows(
    trainingStepRow,
    'select * from training_steps where run_id = $1 and shard = $2 and step = $3',
    [runId, shard, step],
  );

/** A deployment between the first try and the second changes nothing but the code version. */
const contentDigest = ({ codeVersion: _, ...content }: TrainingStepRow) => digestOf(content);

import { z } from 'zod';
import type { Cell } from '../workflows/method/types.ts';
import type { CertificationStore, StepKey } from './contract.ts';
import { type Database, INSERT_BATCH, insertRows, jsonRows, type Session } from './database.ts';
import { StepOrderError } from './errors.ts';
import { insertImmutable } from './immutable.ts';
import { certificateSchema, questionSchema, trackerSchema } from './schemas/method.ts';
import { questionRow } from './schemas/rows.ts';

export function certificationStore(database: Database): CertificationStore {
  return {
    saveQuestions: (at, questions) =>
      database.transaction(async (session) => {
        await lockShard(session, at);
        const inserted = await insertImmutable(session, {
          table: 'questions',
          key: ['run_id', 'shard', 'id', 'version', 'step'],
          rows: questions
            .map((given) => questionSchema.parse(given))
            .map((question) => ({
              ...keyOf(at),
              ...question,
              assertion: question.assertion ?? null,
            })),
          remedy:
            'a version reads one way at one training step; save the change at a later step or as a new version',
        });
        const latest = await latestCertified(session, at);
        if (inserted > 0 && latest !== null && latest > at.step) throw tooLate(at, latest);
      }),

    trackers: (runId, shard) => readTrackers(database, runId, shard),

    certifyStep: (at, update) =>
      database.transaction(async (session) => {
        await lockShard(session, at);
        const latest = await latestCertified(session, at);
        if (latest === at.step) return false;
        if (latest !== null && latest > at.step) {
          if (await isCertified(session, at)) return false;
          throw tooLate(at, latest);
        }
        const { trackers, certificates } = update(await readTrackers(session, at.runId, at.shard));
        await writeTrackers(session, at, trackers);
        await insertRows(
          session,
          'certificates',
          certificates.map((certificate) => ({
            ...keyOf(at),
            ...cellColumns(certificate),
            document: certificate,
          })),
        );
        await insertRows(session, 'bank_snapshots', [keyOf(at)]);
        return true;
      }),

    everCertified: ({ runId, shard, step }) =>
      database.rows(
        z.object({ qid: z.string(), version: z.int() }),
        `select distinct question_id as qid, version
           from certificates where run_id = $1 and shard = $2 and step <= $3
            and json_array_length(document -> 'reasons') = 0`,
        [runId, shard, step],
      ),

    snapshotAt: async ({ runId, shard, step }) => {
      const questions = await database.rows(
        questionRow,
        `select distinct on (id, version) id, version, text, scope, polarity, status, assertion, provenance
           from questions where run_id = $1 and shard = $2 and step <= $3
          order by id, version, step desc`,
        [runId, shard, step],
      );
      const certificates = await database.rows(
        z.object({ document: certificateSchema }),
        NEWEST_CERTIFICATES,
        [runId, shard, step],
      );
      return { questions, certificates: certificates.map(({ document }) => document) };
    },
  };
}

/**
 * One look into the index for each cell: `distinct on` would read every certificate that the shard ever wrote, more
 * with each training step.
 */
const NEWEST_CERTIFICATES = `
  with recursive newest as (
    (select question_id, version, tier, key, document
       from certificates where run_id = $1 and shard = $2 and step <= $3
      order by question_id, version, tier, key, step desc limit 1)
    union all
    select next.*
      from newest as last cross join lateral (
        select question_id, version, tier, key, document
          from certificates where run_id = $1 and shard = $2 and step <= $3
           and (question_id, version, tier, key) > (last.question_id, last.version, last.tier, last.key)
         order by question_id, version, tier, key, step desc limit 1) as next
  )
  select document from newest order by question_id, version, tier, key`;

/** One writer a shard: trackers are read, changed and written as a whole. */
async function lockShard(session: Session, { runId, shard }: StepKey): Promise<void> {
  await session.execute(
    `select pg_advisory_xact_lock(hashtextextended('clift shard ' || $1 || ' ' || $2, 0))`,
    [runId, String(shard)],
  );
}

async function latestCertified(session: Session, { runId, shard }: StepKey): Promise<number | null> {
  const [row] = await session.rows(
    z.object({ step: z.int().nullable() }),
    'select max(step) as step from bank_snapshots where run_id = $1 and shard = $2',
    [runId, shard],
  );
  return row?.step ?? null;
}

const isCertified = async (session: Session, { runId, shard, step }: StepKey) =>
  (await session.execute('select 1 from bank_snapshots where run_id = $1 and shard = $2 and step = $3', [
    runId,
    shard,
    step,
  ])) === 1;

function tooLate({ runId, shard, step }: StepKey, latest: number): StepOrderError {
  return new StepOrderError(
    `shard ${shard} of run "${runId}" is certified up to training step ${latest}: step ${step} would change what later steps have seen; use a step from ${latest} on`,
  );
}

async function readTrackers(session: Session, runId: string, shard: number) {
  const rows = await session.rows(
    z.object({ document: trackerSchema }),
    `select document from trackers where run_id = $1 and shard = $2 order by question_id, version, tier, key`,
    [runId, shard],
  );
  return rows.map(({ document }) => document);
}

async function writeTrackers(session: Session, at: StepKey, trackers: readonly Cell[]): Promise<void> {
  for (let from = 0; from < trackers.length; from += INSERT_BATCH) {
    const rows = trackers
      .slice(from, from + INSERT_BATCH)
      .map((tracker) => ({ ...keyOf(at), ...cellColumns(tracker), document: tracker }));
    await session.execute(
      `insert into trackers select * from json_populate_recordset(null::trackers, $1)
       on conflict (run_id, shard, question_id, version, tier, key)
       do update set step = excluded.step, document = excluded.document`,
      [jsonRows(rows)],
    );
  }
}

/** Callers may hand in more than a key. */
const keyOf = ({ runId, shard, step }: StepKey) => ({ runId, shard, step });

const cellColumns = ({ qid, version, tier, key }: Cell) => ({ questionId: qid, version, tier, key });

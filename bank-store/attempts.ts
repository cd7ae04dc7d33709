import { z } from 'zod';
import { canonicalJson, digestOf } from './canonical-json.ts';
import type {
  AttemptClaim,
  AttemptEnding,
  AttemptStore,
  BlobStore,
  FinishedRollout,
  StepRecord,
} from './contract.ts';
import { columnsOf, type Database, insertRows, jsonRows, only, type Session } from './database.ts';
import { ContentConflict, FencedError, StepGap } from './errors.ts';
import { causeOf, insertGrade, OUTCOME } from './grades.ts';
import { noRollout } from './rollouts.ts';
import { finishedRow, stepRow } from './schemas/rows.ts';
import { trajectoryDocument } from './trajectory.ts';

/** The lives of a rollout. Whoever writes shows the fence of its claim; a newer claim makes the older one a zombie. */
export function attemptStore(database: Database, blobs: BlobStore): AttemptStore {
  return {
    claimAttempt: (rolloutId, worker) =>
      database.transaction(async (session) => {
        const held = await lock(session, rolloutId);
        if (!held.finished) await takeOver(session, held, worker);
        return readClaim(session, rolloutId);
      }),

    confirmInitialState: (rolloutId, fence, digest) =>
      database.transaction(async (session) => {
        const { attempt } = await lockOwn(session, rolloutId, fence);
        const rows = await session.rows(
          z.object({ initialStateDigest: z.string() }),
          `update attempts set initial_state_digest = coalesce(initial_state_digest, $3)
            where rollout_id = $1 and attempt = $2 returning initial_state_digest`,
          [rolloutId, attempt, digest],
        );
        return only(rows, noRollout(rolloutId)).initialStateDigest === digest;
      }),

    recordStep: async (rolloutId, fence, given) => {
      const step = stepRow.parse(given);
      if (!(await appendStep(database, rolloutId, fence, step))) {
        await explainRefusedStep(database, rolloutId, fence, step);
      }
    },

    keepRequestLog: (rolloutId, fence, digest) =>
      database.transaction(async (session) => {
        const { attempt } = await lockOwn(session, rolloutId, fence);
        await session.execute(
          'update attempts set request_log_digest = $3 where rollout_id = $1 and attempt = $2',
          [rolloutId, attempt, digest],
        );
      }),

    noteInterruption: (rolloutId, fence) =>
      database.transaction(async (session) => {
        const { attempt, steps } = await lockOwn(session, rolloutId, fence);
        const rows = await session.rows(
          z.object({ interruptions: z.int() }),
          `update attempts
              set interruptions = case when interrupted_at = $3 then interruptions + 1 else 1 end,
                  interrupted_at = $3
            where rollout_id = $1 and attempt = $2 returning interruptions`,
          [rolloutId, attempt, steps],
        );
        return only(rows, noRollout(rolloutId)).interruptions;
      }),

    abandonAttempt: (rolloutId, fence, cause) =>
      database.transaction(async (session) => {
        const held = await lockOwn(session, rolloutId, fence);
        const worker = await endAttempt(session, held, cause);
        await beginAttempt(session, held, worker);
        return readClaim(session, rolloutId);
      }),

    finishRollout: (rolloutId, fence, ending) =>
      database.transaction(async (session) => {
        const held = await lock(session, rolloutId);
        if (held.fence !== fence) throw fenced(held, fence);
        if (!held.finished) {
          await endAttempt(session, held, 'finished');
          await finish(session, blobs, held, ending);
        } else if (held.endingDigest !== digestOf(ending)) {
          throw new ContentConflict(
            `rollout "${rolloutId}" has finished with another ending: a rollout finishes once; grade it again instead`,
          );
        }
        return only(await readFinished(session, rolloutId), noRollout(rolloutId));
      }),

    failRollout: (rolloutId, outcome, cause) =>
      database.transaction(async (session) => {
        const held = await lock(session, rolloutId);
        if (held.finished) return;
        if (held.attempt > 0) await endAttempt(session, held, cause);
        await session.execute('update rollouts set fence = fence + 1 where id = $1', [rolloutId]);
        const last = (await readSteps(session, rolloutId)).at(-1);
        await finish(session, blobs, held, {
          outcome,
          stopReason: 'died',
          answer: null,
          finalUrl: last?.urlAfter ?? '',
          finalObservationDigest: null,
          evidenceDigest: null,
          verdictMessage: cause,
          flags: [],
        });
      }),
  };
}

const heldRow = z.object({
  id: z.string(),
  taskId: z.string(),
  attempt: z.int(),
  fence: z.int(),
  steps: z.int(),
  finished: z.boolean(),
  endingDigest: z.string().nullable(),
});

type Held = z.output<typeof heldRow>;

const SELECT_HELD = `select id, task_id, attempt, fence, steps, ending_digest, finished_at is not null as finished
  from rollouts where id = $1`;

/** Serialises all writers of the rollout until the transaction ends. */
async function lock(session: Session, rolloutId: string): Promise<Held> {
  return only(
    await session.rows(heldRow, `${SELECT_HELD} for no key update`, [rolloutId]),
    noRollout(rolloutId),
  );
}

async function lockOwn(session: Session, rolloutId: string, fence: number): Promise<Held> {
  const held = await lock(session, rolloutId);
  if (held.finished || held.fence !== fence) throw fenced(held, fence);
  return held;
}

function fenced(held: Held, fence: number): FencedError {
  const reason = held.finished ? 'the rollout has finished' : `fence ${held.fence} was given out since`;
  return new FencedError(
    `rollout "${held.id}" refuses the writer with fence ${fence}: ${reason}; stop this attempt`,
  );
}

async function takeOver(session: Session, held: Held, worker: string): Promise<void> {
  if (held.attempt === 0) return beginAttempt(session, held, worker);
  await session.execute('update attempts set worker = $3 where rollout_id = $1 and attempt = $2', [
    held.id,
    held.attempt,
    worker,
  ]);
  await session.execute('update rollouts set fence = fence + 1 where id = $1', [held.id]);
}

async function beginAttempt(session: Session, held: Held, worker: string): Promise<void> {
  const attempt = held.attempt + 1;
  await insertRows(session, 'attempts', [{ rolloutId: held.id, attempt, worker }]);
  await session.execute('update rollouts set attempt = $2, fence = fence + 1, steps = 0 where id = $1', [
    held.id,
    attempt,
  ]);
}

/** Returns the worker that had the attempt. */
async function endAttempt(session: Session, held: Held, ending: string): Promise<string> {
  const rows = await session.rows(
    z.object({ worker: z.string() }),
    `update attempts set ending = $3, ended_at = clock_timestamp()
      where rollout_id = $1 and attempt = $2 returning worker`,
    [held.id, held.attempt, ending],
  );
  return only(rows, `rollout "${held.id}" has no attempt ${held.attempt}`).worker;
}

const claimRow = z.object({
  attempt: z.int(),
  fence: z.int(),
  initialStateDigest: z.string().nullable(),
  barrenAttempts: z.int(),
});

async function readClaim(session: Session, rolloutId: string): Promise<AttemptClaim> {
  const rows = await session.rows(
    claimRow,
    `select rollouts.attempt, fence, initial_state_digest,
            greatest(rollouts.attempt, 1) - 1 - coalesce(
              (select max(steps.attempt) from steps
                where steps.rollout_id = rollouts.id and steps.attempt < rollouts.attempt), 0) as barren_attempts
       from rollouts
       left join attempts on attempts.rollout_id = rollouts.id and attempts.attempt = rollouts.attempt
      where rollouts.id = $1`,
    [rolloutId],
  );
  const [finished = null] = await readFinished(session, rolloutId);
  return {
    ...only(rows, noRollout(rolloutId)),
    steps: await readSteps(session, rolloutId),
    finished,
  };
}

const readFinished = (session: Session, rolloutId: string): Promise<readonly FinishedRollout[]> =>
  session.rows(finishedRow, `select *, ${OUTCOME} from rollouts where id = $1 and finished_at is not null`, [
    rolloutId,
  ]);

/** Those of the latest attempt. */
const readSteps = (session: Session, rolloutId: string): Promise<readonly StepRecord[]> =>
  session.rows(
    stepRow,
    `select steps.* from steps join rollouts on rollouts.id = rollout_id and rollouts.attempt = steps.attempt
      where rollout_id = $1 order by steps.index`,
    [rolloutId],
  );

/** One statement, so that a step costs one round trip; false if it may not be appended. */
async function appendStep(
  session: Session,
  rolloutId: string,
  fence: number,
  step: StepRecord,
): Promise<boolean> {
  const row = { ...step, contentDigest: digestOf(step) };
  const columns = columnsOf(row);
  const appended = await session.execute(
    `with claimed as (
       update rollouts set steps = steps + 1
        where id = $1 and fence = $2 and steps = $3 and finished_at is null
       returning attempt
     )
     insert into steps (rollout_id, attempt, ${columns})
     select $1, claimed.attempt, ${columns
       .split(', ')
       .map((column) => `step.${column}`)
       .join(', ')}
       from claimed, json_populate_recordset(null::steps, $4) step`,
    [rolloutId, fence, step.index, jsonRows([row])],
  );
  return appended === 1;
}

/** Returns quietly when the step is recorded already. */
async function explainRefusedStep(session: Session, rolloutId: string, fence: number, step: StepRecord) {
  const held = only(await session.rows(heldRow, SELECT_HELD, [rolloutId]), noRollout(rolloutId));
  if (held.finished || held.fence !== fence) throw fenced(held, fence);
  const [recorded] = await session.rows(
    z.object({ contentDigest: z.string() }),
    'select content_digest from steps where rollout_id = $1 and attempt = $2 and index = $3',
    [rolloutId, held.attempt, step.index],
  );
  if (recorded === undefined) {
    throw new StepGap(
      `rollout "${rolloutId}" has ${held.steps} steps, so the next one has index ${held.steps}, not ${step.index}: record steps in order`,
    );
  }
  if (recorded.contentDigest !== digestOf(step)) {
    throw new ContentConflict(
      `step ${step.index} of rollout "${rolloutId}" is recorded with other content: resume from the recorded steps, or abandon the attempt`,
    );
  }
}

async function finish(session: Session, blobs: BlobStore, held: Held, ending: AttemptEnding): Promise<void> {
  const steps = await readSteps(session, held.id);
  const trajectoryDigest = await blobs.putJson(trajectoryDocument(held.taskId, steps, ending));
  await session.execute(
    `update rollouts
        set outcome_kind = $2, outcome_cause = $3, verdict_message = $4, stop_reason = $5, answer = $6,
            final_url = $7, final_observation_digest = $8, evidence_digest = $9, flags = $10, ending_digest = $11,
            trajectory_digest = $12, finished_at = clock_timestamp()
      where id = $1`,
    [
      held.id,
      ending.outcome.kind,
      causeOf(ending.outcome),
      ending.verdictMessage,
      ending.stopReason,
      ending.answer,
      ending.finalUrl,
      ending.finalObservationDigest,
      ending.evidenceDigest,
      canonicalJson(ending.flags),
      digestOf(ending),
      trajectoryDigest,
    ],
  );
  await insertGrade(session, held.id, {
    grader: 'rollout',
    ref: 'finish',
    outcome: ending.outcome,
    message: ending.verdictMessage,
    edit: null,
  });
}

/** What a finished job left in its database, as far as two jobs should agree on it or a proof needs it. */
import { z } from 'zod';
import type { Database } from '../../bank-store/database.ts';

const rollouts = z.object({ id: z.string(), trajectoryDigest: z.string().nullable(), outcome: z.string() });
const adapters = z.object({
  runId: z.string(),
  shard: z.int(),
  step: z.int(),
  batchDigest: z.string(),
  digest: z.string(),
});
const trainingSteps = z.object({
  runId: z.string(),
  shard: z.int(),
  step: z.int(),
  outcome: z.string(),
  adapterDigest: z.string().nullable(),
});
const counts = z.object({ calls: z.int(), repeatedCalls: z.int(), runAgain: z.int(), deadAttempts: z.int() });

export interface JobRecord {
  readonly rollouts: readonly z.infer<typeof rollouts>[];
  /** One row an optimiser step, by its key (run, shard, training step); the initial adapter is step −1. */
  readonly adapters: readonly z.infer<typeof adapters>[];
  readonly trainingSteps: readonly z.infer<typeof trainingSteps>[];
  /** Model calls in the journal. */
  readonly calls: number;
  /** Times that a call of the journal was begun once more. */
  readonly repeatedCalls: number;
  /** Attempts or browser steps of rollouts that had finished before. */
  readonly runAgain: number;
  /** Attempts that ended without finishing their rollout. */
  readonly deadAttempts: number;
}

export async function readRecord(database: Database): Promise<JobRecord> {
  const [count] = await database.rows(
    counts,
    `select (select count(*) from model_calls)::integer as calls,
            (select coalesce(sum(greatest(executions - 1, replies - 1)), 0) from model_calls)::integer as repeated_calls,
            ((select count(*) from attempts join rollouts on id = rollout_id where started_at > finished_at)
             + (select count(*) from steps join rollouts on id = rollout_id where recorded_at > finished_at)
            )::integer as run_again,
            (select count(*) from attempts where ending <> 'finished')::integer as dead_attempts`,
  );
  if (count === undefined) throw new Error('the job left no record');
  return {
    rollouts: await database.rows(
      rollouts,
      `select id, trajectory_digest, concat_ws(' ', outcome_kind, outcome_cause) as outcome from rollouts order by id`,
    ),
    adapters: await database.rows(
      adapters,
      'select run_id, shard, step, batch_digest, digest from adapters order by run_id, shard, step',
    ),
    trainingSteps: await database.rows(
      trainingSteps,
      'select run_id, shard, step, outcome, adapter_digest from training_steps order by run_id, shard, step',
    ),
    ...count,
  };
}

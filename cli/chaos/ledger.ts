/** What the job's database says, read beside the job and not through it. */
import { z } from 'zod';
import { type Database, openDatabase } from '../../bank-store/database.ts';
import { type Point, points } from './points.ts';

const names = z.object({ id: z.string() });
const finished = z.object({ id: z.string(), trajectoryDigest: z.string() });
const count = z.object({ n: z.int() });

export class Ledger {
  readonly #database: Database;

  constructor(databaseUrl: string) {
    this.#database = openDatabase({
      databaseUrl,
      // One for each hold, and some to look with.
      poolSize: points.length + 4,
      connectionTimeoutMs: 2_000,
      // A hold lasts until its phase comes.
      statementTimeoutMs: 3_600_000,
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** Rollouts that have finished, by id, with the digests of their trajectories. */
  async finishedRollouts(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#database.rows(
      finished,
      'select id, trajectory_digest from rollouts where finished_at is not null',
    );
    return new Map(rows.map(({ id, trajectoryDigest }) => [id, trajectoryDigest]));
  }

  /** Names of the model calls that are being paid for. */
  async callsInFlight(): Promise<readonly string[]> {
    const rows = await this.#database.rows(
      names,
      `select concat_ws(' ', run_id, purpose, owner, ordinal, request_digest) as id
         from model_calls where state = 'running'`,
    );
    return rows.map(({ id }) => id);
  }

  /** Browser steps recorded by rollouts that this worker has in hand. */
  async openSteps(pid: number): Promise<number> {
    return this.#count(
      `select coalesce(sum(rollouts.steps), 0)::integer as n
         from rollouts join attempts on rollout_id = rollouts.id and attempts.attempt = rollouts.attempt
        where finished_at is null and attempts.worker = $1`,
      [`worker-${pid}`],
    );
  }

  /** Lets the points be held: a trigger at each waits for a lock that nobody has but for the time of a hold. */
  async prepareHolds(): Promise<void> {
    await this.#database.execute(
      `create or replace function chaos_hold() returns trigger language plpgsql as $$
       begin
         perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint);
         return new;
       end $$`,
    );
    for (const [index, { inserts }] of points.entries()) {
      if (inserts === null) continue;
      const { table, when } = inserts;
      await this.#database.execute(
        `create or replace trigger chaos_${index} before insert on ${table} for each row
           ${when === undefined ? '' : `when (${when})`} execute function chaos_hold('${lockOf(index)}')`,
      );
    }
  }

  /** Writers that are held at the point. */
  async heldAt(point: Point): Promise<number> {
    return this.#count(
      `select count(*)::integer as n from pg_locks
        where locktype = 'advisory' and objid::bigint = $1::bigint and not granted`,
      [String(lockOf(points.indexOf(point)))],
    );
  }

  /** Points that are held; a database that was killed has forgotten those of before. */
  async heldPoints(): Promise<ReadonlySet<Point>> {
    const rows = await this.#database.rows(
      z.object({ lock: z.int() }),
      `select objid::integer as lock from pg_locks
        where locktype = 'advisory' and mode = 'ExclusiveLock' and granted`,
    );
    return new Set(points.filter((_, index) => rows.some(({ lock }) => lock === lockOf(index))));
  }

  /** Grows with everything that a job records. */
  async recorded(): Promise<number> {
    return this.#count(
      `select ((select count(*) from steps) + (select sum(replies) from model_calls)
             + (select count(*) from judgements) + (select count(*) from answers)
             + (select count(*) from bank_snapshots) + (select count(*) from adapters)
             + (select count(*) from training_steps) + (select count(*) from banks)
             + (select count(*) from selections) + (select sum(fence) from rollouts))::integer as n`,
    );
  }

  async #count(sql: string, parameters: readonly string[] = []): Promise<number> {
    const [row] = await this.#database.rows(count, sql, parameters);
    return row?.n ?? 0;
  }

  /** Keeps whoever comes to the point there until the hold is released. */
  async hold(point: Point): Promise<Hold> {
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const over = this.#database.transaction(async (session) => {
      await session.execute('select pg_advisory_xact_lock($1)', [lockOf(points.indexOf(point))]);
      locked.resolve();
      await released.promise;
    });
    over.catch(() => undefined);
    await Promise.race([locked.promise, over]);
    return {
      release: async () => {
        released.resolve();
        // A database that was killed has let go of it too.
        await over.catch(() => undefined);
      },
    };
  }
}

/** Any numbers that nobody else takes as advisory locks. */
const lockOf = (index: number) => 7_000 + index;

export interface Hold {
  release(): Promise<void>;
}

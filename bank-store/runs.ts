import { canonicalJson } from './canonical-json.ts';
import type { NewRun, Run, RunStore } from './contract.ts';
import { type Database, insertRows, only, type Session } from './database.ts';
import { ContentConflict, NotFound, RunIdentityMismatch } from './errors.ts';
import { runRow } from './schemas/rows.ts';

export function runStore(database: Database): RunStore {
  return {
    createRun: (run) => database.transaction((session) => createRun(session, run)),
    getRun: (runId) => readRun(database, runId),
    listRuns: () => database.rows(runRow, `${SELECT_RUNS} order by created_at desc, id`),
    setRunState: async (runId, state, reason) => {
      const changed = await database.execute('update runs set state = $2, state_reason = $3 where id = $1', [
        runId,
        state,
        reason,
      ]);
      if (changed === 0) throw new NotFound(missing(runId));
    },
    finishRun: async (runId, { bankDigest, adapterDigest }) => {
      const changed = await database.execute(
        `update runs set state = 'completed', state_reason = '', bank_digest = $2, adapter_digest = $3
          where id = $1
            and (bank_digest is null or bank_digest = $2)
            and (adapter_digest is null or adapter_digest = $3)`,
        [runId, bankDigest, adapterDigest],
      );
      if (changed === 1) return;
      const run = await readRun(database, runId);
      throw new ContentConflict(
        `run "${runId}" has finished before, with bank ${run.bankDigest} and adapter ${run.adapterDigest}: give the new result another run`,
      );
    },
  };
}

/** A run lists every code version that worked on it (invariant 7). */
export const noteCodeVersion = (session: Session, runId: string, codeVersion: string) =>
  insertRows(session, 'run_code_versions', [{ runId, codeVersion }]);

async function createRun(session: Session, run: NewRun): Promise<Run> {
  await insertRows(session, 'runs', [run]);
  const stored = await readRun(session, run.id);
  const differences = identityDifferences(stored, run);
  if (differences.length > 0) throw new RunIdentityMismatch(run.id, differences);
  // Same identity, same results: what differs is the place, or a ceiling that was raised.
  await session.execute('update runs set config = $2 where id = $1', [run.id, canonicalJson(run.config)]);
  await noteCodeVersion(session, run.id, run.codeVersion);
  return readRun(session, run.id);
}

async function readRun(session: Session, runId: string): Promise<Run> {
  return only(await session.rows(runRow, `${SELECT_RUNS} where id = $1`, [runId]), missing(runId));
}

const SELECT_RUNS = `
  select id, kind, seed, identity, config, code_version, state, state_reason, created_at, bank_digest, adapter_digest,
         array(select code_version from run_code_versions where run_id = runs.id order by seen_at, code_version)
           as code_versions
    from runs`;

const missing = (runId: string) => `there is no run "${runId}": list the runs to see their names`;

/** One line a difference: `judge.model: stored "a", given "b"`. */
function identityDifferences(stored: NewRun, given: NewRun): readonly string[] {
  const before: NewRun['identity'] = { kind: stored.kind, seed: stored.seed, ...stored.identity };
  const now: NewRun['identity'] = { kind: given.kind, seed: given.seed, ...given.identity };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return fields
    .filter((field) => shown(before[field]) !== shown(now[field]))
    .map((field) => `${field}: stored ${shown(before[field])}, given ${shown(now[field])}`);
}

const shown = (value: NewRun['identity'][string] | undefined) =>
  value === undefined ? 'nothing' : canonicalJson(value);

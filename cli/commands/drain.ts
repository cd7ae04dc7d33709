import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../infra/processes.ts';
import { type RunningWorker, runningWorkers } from '../../infra/running-workers.ts';
import type { Settings } from '../../workers/settings.ts';
import { jsonLine } from '../report/terminal-text.ts';

/** A worker's own forced end comes well before this. */
const BEYOND_GRACE_MS = 40_000;

/**
 * Tells every worker of this home to end: it takes no more work, lets its activities go on for its grace time and
 * hands the rest to other workers, or to those that the next command brings. The same as SIGTERM to each.
 */
export async function drain(settings: Settings, { json = false }: { json?: boolean }): Promise<void> {
  const workers = runningWorkers(settings.home);
  for (const { pid } of workers) process.kill(pid, 'SIGTERM');
  const drained = await Promise.all(
    workers.map(async (worker) => ({ ...worker, ended: await hasEnded(worker) })),
  );
  if (drained.some(({ ended }) => !ended)) process.exitCode = 1;
  console.log(json ? jsonLine(drained) : describe(drained));
}

async function hasEnded(worker: RunningWorker): Promise<boolean> {
  const deadline = Date.now() + 1_000 * worker.drainGraceS + BEYOND_GRACE_MS;
  while (isAlive(worker)) {
    if (Date.now() > deadline) return false;
    await sleep(100);
  }
  return true;
}

function describe(workers: readonly (RunningWorker & { readonly ended: boolean })[]): string {
  if (workers.length === 0) return 'No worker runs here.';
  return workers
    .map(
      ({ pid, roles, ended }) => `${pid}  ${roles.join(', ')}  ${ended ? 'drained' : 'still runs: kill it'}`,
    )
    .join('\n');
}

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { identifyProcess, isAlive } from './processes.ts';

const workerRecord = z.object({
  pid: z.int(),
  startedAt: z.string(),
  roles: z.array(z.string()),
  /** Seconds that it lets its activities go on when it is told to end. */
  drainGraceS: z.number(),
});

/** A worker process on this machine, by the record that it keeps in its home. */
export type RunningWorker = z.infer<typeof workerRecord>;

const recordsOf = (home: string) => join(home, 'run', 'workers');

/** Called by a worker for itself; the function that it gets back takes the record away. */
export function registerWorker(home: string, what: Pick<RunningWorker, 'roles' | 'drainGraceS'>): () => void {
  mkdirSync(recordsOf(home), { recursive: true });
  const path = join(recordsOf(home), `${process.pid}.json`);
  writeFileSync(path, JSON.stringify({ ...identifyProcess(process.pid), ...what }));
  return () => rmSync(path, { force: true });
}

/** Records of workers that were killed count for nothing and are removed. */
export function runningWorkers(home: string): readonly RunningWorker[] {
  mkdirSync(recordsOf(home), { recursive: true });
  return readdirSync(recordsOf(home)).flatMap((name) => {
    const path = join(recordsOf(home), name);
    const worker = readRecord(path);
    if (worker !== null && isAlive(worker)) return [worker];
    rmSync(path, { force: true });
    return [];
  });
}

function readRecord(path: string): RunningWorker | null {
  try {
    return workerRecord.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

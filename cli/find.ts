/** What a user named, or an error that says how to find the right name. */
import type { Run, StoredRollout } from '../bank-store/contract.ts';
import { type BankStore, NotFound } from '../bank-store/index.ts';
import type { Task } from '../benchmarks/contract.ts';

export const findRun = (store: BankStore, runId: string): Promise<Run> =>
  found(store.getRun(runId), `no run named ${runId}; \`clift runs\` lists them`);

export const findTask = (store: BankStore, taskId: string): Promise<Task> =>
  found(
    store.getTask(taskId),
    `no run has worked on a task named ${taskId}; \`clift tasks list\` shows the tasks of the benchmarks`,
  );

export const findRollout = (store: BankStore, rolloutId: string): Promise<StoredRollout> =>
  found(
    store.getRollout(rolloutId),
    `no rollout named ${rolloutId}; \`clift show <run> <task>\` and \`clift show <run> step <n>\` list them`,
  );

/** Digest of a frozen bank or of an adapter, named by itself or by the training run that made it. */
export async function findResult(
  store: BankStore,
  result: 'bankDigest' | 'adapterDigest',
  name: string,
): Promise<string> {
  const what = result === 'bankDigest' ? 'bank' : 'adapter';
  if (/^[0-9a-f]{64}$/.test(name)) {
    if (await store.blobs.has(name)) return name;
    throw new Error(
      `there is no ${what} ${name} here; \`clift bank list\` and \`clift show <run>\` tell digests`,
    );
  }
  const run = await findRun(store, name);
  const digest = run[result];
  if (digest !== null) return digest;
  throw new Error(
    `run ${name} has left no ${what} (it is ${run.state}); name a training run that is completed`,
  );
}

async function found<T>(reading: Promise<T>, message: string): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw cause instanceof NotFound ? new Error(message, { cause }) : cause;
  }
}

/** What a person may ask of a run that is under way. Its workflow answers, through whichever worker serves it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { BankStore, Run } from '../bank-store/contract.ts';
import { controls, evaluateSuiteId, trainRunId } from '../workflows/names.ts';

/** An orchestrator that is alive accepts at once. */
const ACCEPT_LIMIT_MS = 60_000;

/** Asks a run to pause; `paused` settles when nothing of it is under way any more. Throws where it cannot pause. */
export async function requestPause(
  client: Client,
  run: Run,
  reason: string,
): Promise<{ readonly paused: Promise<void> }> {
  const handle = workflowOf(client, run);
  const update = await accepted(run.id, () =>
    handle.startUpdate<void, [string]>(controls.pause, { args: [reason], waitForStage: 'ACCEPTED' }),
  );
  return { paused: update.result() };
}

/** Returns when the run is recorded as running again. */
export async function resumeRun(handle: WorkflowHandle, runId: string): Promise<void> {
  const update = await accepted(runId, () =>
    handle.startUpdate<void, []>(controls.resume, { args: [], waitForStage: 'ACCEPTED' }),
  );
  await update.result();
}

/** A browser is told within seconds; an activity whose worker is dead is given up a little later. */
const CANCEL_LIMIT_MS = 120_000;

/** Cancels a run and waits until that is recorded. */
export async function cancelRun(
  { client, store }: { client: Client; store: BankStore },
  run: Run,
): Promise<Run> {
  await accepted(run.id, () => workflowOf(client, run).cancel());
  for (const deadline = Date.now() + CANCEL_LIMIT_MS; Date.now() < deadline; ) {
    const now = await store.getRun(run.id);
    if (now.state !== run.state && now.state !== 'running') return now;
    await sleep(200);
  }
  throw new Error(
    `run ${run.id} has been told to end, but is not recorded as cancelled after ${CANCEL_LIMIT_MS / 1000} s: is one of its workers stuck?`,
  );
}

const workflowOf = (client: Client, { id, kind }: Run): WorkflowHandle =>
  client.workflow.getHandle(kind === 'train' ? trainRunId(id) : evaluateSuiteId(id));

async function accepted<T>(runId: string, ask: () => Promise<T>): Promise<T> {
  const expired = new AbortController();
  const limit = sleep(ACCEPT_LIMIT_MS, undefined, { signal: expired.signal }).then(() => {
    throw new Error(
      `no worker answered for run ${runId} within ${ACCEPT_LIMIT_MS / 1000} s: start \`clift worker --role orchestrator,cpu\` where its cluster is served`,
    );
  });
  try {
    return await Promise.race([ask(), limit]);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new Error(`nothing of run ${runId} is under way; \`clift resume ${runId}\` starts it again`, {
      cause: error,
    });
  } finally {
    limit.catch(() => undefined);
    expired.abort();
  }
}

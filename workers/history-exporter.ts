import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { BankStore, StoredHistory } from '../bank-store/contract.ts';
import { runOfWorkflow } from '../workflows/names.ts';

type Store = Pick<BankStore, 'blobs' | 'listRuns' | 'saveHistory' | 'latestClose'>;
type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

const SWEEP_EVERY_MS = 15_000;
/** The list of closed workflows lags behind, and workers that export side by side are not equally fast. */
const OVERLAP_MS = 10 * 60_000;
/** Of one history, sweep after sweep: longer than a server needs to come back. */
const TRIES = 20;

/**
 * Copies the history of every workflow that has closed into the blob store, from where it can be replayed long after
 * the cluster has forgotten it (invariant 11). Looks for what is missing instead of being told: a crash loses nothing.
 */
export class HistoryExporter {
  readonly #client: Client;
  readonly #store: Store;
  /** Executions that are exported or given up. */
  readonly #done = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(client: Client, store: Store) {
    this.#client = client;
    this.#store = store;
    this.#timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS);
  }

  /** After a last sweep: what closed just now may have nobody else to export it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.sweep();
  }

  /** One after another. A failure is told and leaves its work to the next sweep. */
  sweep(): Promise<void> {
    this.#sweeping = this.#sweeping
      .then(() => this.#exportNew())
      .catch((error: unknown) => console.error(`histories were not exported: ${String(error)}`));
    return this.#sweeping;
  }

  async #exportNew(): Promise<void> {
    const runs = new Set((await this.#store.listRuns()).map(({ id }) => id));
    for (const closed of await this.#listClosed()) {
      const runId = runOfWorkflow(closed.workflowId);
      // A namespace may serve other programs and databases too.
      if (runId === null || !runs.has(runId) || this.#done.has(closed.runId)) continue;
      const history = await this.#fetch(closed);
      if (history !== null) await save(this.#store, runId, closed, history);
      this.#done.add(closed.runId);
      this.#failures.delete(closed.runId);
    }
  }

  /** Null for one that cannot be had, forgotten or beyond every limit: it must not bar the others. */
  async #fetch({ workflowId, runId: executionId }: WorkflowExecutionInfo): Promise<History | null> {
    try {
      return await this.#client.workflow.getHandle(workflowId, executionId).fetchHistory();
    } catch (error) {
      const tries = (this.#failures.get(executionId) ?? 0) + 1;
      this.#failures.set(executionId, tries);
      if (tries < TRIES && !(error instanceof WorkflowNotFoundError)) throw error;
      console.error(`the history of ${workflowId} is given up: ${String(error)}`);
      return null;
    }
  }

  /** In the order in which they closed, so that a sweep that dies leaves a gap at the end only. */
  async #listClosed(): Promise<readonly WorkflowExecutionInfo[]> {
    const latest = await this.#store.latestClose();
    const since = latest === null ? 0 : Date.parse(latest) - OVERLAP_MS;
    const query = `ExecutionStatus != "Running" AND CloseTime >= "${new Date(since).toISOString()}"`;
    const closed: WorkflowExecutionInfo[] = [];
    for await (const workflow of this.#client.workflow.list({ query })) closed.push(workflow);
    return closed.sort((left, right) => closeTimeOf(left) - closeTimeOf(right));
  }
}

const closeTimeOf = ({ closeTime }: WorkflowExecutionInfo): number => closeTime?.getTime() ?? 0;

const statuses: Partial<Record<WorkflowExecutionInfo['status']['name'], StoredHistory['status']>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  CONTINUED_AS_NEW: 'continued_as_new',
  TIMED_OUT: 'timed_out',
};

async function save(
  store: Store,
  runId: string,
  { workflowId, runId: executionId, type, status, closeTime }: WorkflowExecutionInfo,
  history: History,
): Promise<void> {
  const stored = statuses[status.name];
  if (stored === undefined || closeTime === undefined) return;
  const packed = await promisify(gzip)(historyToJSON(history));
  await store.saveHistory({
    ...{ runId, workflowId, executionId, workflowType: type, status: stored },
    digest: await store.blobs.put(packed),
    events: history.events?.length ?? 0,
    codeVersions: codeVersionsOf(history),
    closedAt: closeTime.toISOString(),
  });
}

/** Every decision of a workflow carries the version of the worker that took it. */
export function codeVersionsOf({ events }: History): readonly string[] {
  const versions = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes }) =>
      workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? [],
  );
  return [...new Set(versions)];
}

/** What a job is doing at this moment, as Temporal sees it. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { type Point, pointOf } from './points.ts';

export interface ActivityInFlight {
  /** Names the activity across its attempts. */
  readonly key: string;
  readonly workflowId: string;
  readonly type: string;
  readonly point: Point | null;
  /** Process that works on it; null while nobody does. */
  readonly pid: number | null;
  readonly attempt: number;
  /** When it was last started or heard of, in ms since the epoch. */
  readonly lifeSignMs: number;
}

export interface Scene {
  readonly atMs: number;
  /** Length of the history of every running workflow. */
  readonly workflows: ReadonlyMap<string, number>;
  readonly activities: readonly ActivityInFlight[];
}

export async function observe(client: Client): Promise<Scene> {
  const atMs = Date.now();
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    ids.push(workflowId);
  }
  const described = await Promise.all(ids.map((id) => describe(client, id)));
  const running = described.filter((workflow) => workflow !== null);
  return {
    atMs,
    workflows: new Map(running.map(({ id, historyLength }) => [id, historyLength])),
    activities: running.flatMap(({ activities }) => activities),
  };
}

async function describe(client: Client, id: string) {
  try {
    const { raw, historyLength, status } = await client.workflow.getHandle(id).describe();
    if (status.name !== 'RUNNING') return null;
    const activities = (raw.pendingActivities ?? []).map((pending): ActivityInFlight => {
      const type = pending.activityType?.name ?? '';
      const pid = Number.parseInt(pending.lastWorkerIdentity ?? '', 10);
      const isStarted = pending.state === STARTED && !Number.isNaN(pid);
      const signs = [pending.lastStartedTime, pending.lastHeartbeatTime].map((at) => (at ? tsToMs(at) : 0));
      return {
        key: `${id} ${type} ${pending.activityId}`,
        workflowId: id,
        type,
        point: pointOf(id, type),
        pid: isStarted ? pid : null,
        attempt: pending.attempt ?? 1,
        lifeSignMs: Math.max(...signs),
      };
    });
    return { id, historyLength, activities };
  } catch (error) {
    // It ended, and was forgotten, between the list and the look.
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Of `temporal.api.enums.v1.PendingActivityState`. */
const STARTED = 2;
/** Of `temporal.api.enums.v1.EventType`. */
const WORKFLOW_TASK_COMPLETED = 7;

interface Decision {
  readonly pid: number;
  readonly atMs: number;
}

/** The last workflow task that was completed in the workflow, and by whom; null if none was yet. */
export async function lastDecision(client: Client, workflowId: string): Promise<Decision | null> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const last = events?.findLast(({ eventType }) => eventType === WORKFLOW_TASK_COMPLETED);
  const pid = Number.parseInt(last?.workflowTaskCompletedEventAttributes?.identity ?? '', 10);
  return last?.eventTime && !Number.isNaN(pid) ? { pid, atMs: tsToMs(last.eventTime) } : null;
}

/** Task queues and meaningful ids: an id says what it is, so that a repeat finds what the first try left. */

export const taskQueues = {
  orchestrator: 'orchestrator',
  browser: 'browser',
  llm: 'llm',
  judge: 'judge',
  cpu: 'cpu',
  gpu: 'gpu',
} as const;

export type TaskQueue = keyof typeof taskQueues;

/** What a person may ask of the workflow of a run: names of its updates. */
export const controls = { pause: 'pause', resume: 'resume' } as const;

export const trainRunId = (runId: string) => `train/${runId}`;
export const trainShardId = (runId: string, shard: number) => `${trainRunId(runId)}/shard/${shard}`;
/** Also the id of the step's group: one group is one update. */
export const trainStepId = (runId: string, shard: number, step: number) =>
  `${trainShardId(runId, shard)}/step/${step}`;
export const growBankId = (runId: string, shard: number, step: number) =>
  `${trainShardId(runId, shard)}/grow/${step}`;

export const evaluateSuiteId = (runId: string) => `eval/${runId}`;
export const evaluatePartId = (runId: string, part: number) => `${evaluateSuiteId(runId)}/part/${part}`;
/** Also the owner of the task's rollouts. */
export const evaluateTaskId = (runId: string, taskId: string) => `${evaluateSuiteId(runId)}/task/${taskId}`;

/** The run that a workflow of that id belongs to; null for an id that is not of this house. */
export const runOfWorkflow = (workflowId: string): string | null =>
  /^(?:train|eval)\/([^/]+)/.exec(workflowId)?.[1] ?? null;

/** `owner` is a group or an evaluation task. */
export const rolloutId = (owner: string, index: number) => `${owner}/rollout/${index}`;

/** Every timeout and retry policy of the house, one comment each saying why. */
import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type {
  BrowserActivities,
  CpuActivities,
  GpuActivities,
  JudgeActivities,
  LlmActivities,
} from '../activities/contracts.ts';
import { faults } from './faults.ts';
import { taskQueues } from './names.ts';

const common = {
  // Queueing included: workers may be away over a long weekend, and what is finished must not be lost to that. Attempts
  // that fail or hang use up their number long before.
  scheduleToCloseTimeout: '7 days',
  // What was told to end has ended before anything says so; a dead worker is given up after the heartbeat timeout.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
} satisfies ActivityOptions;

const nonRetryableErrorTypes = [...faults];

export const browser = proxyActivities<BrowserActivities>({
  ...common,
  taskQueue: taskQueues.browser,
  // The longest honest rollout: 100 steps of a slow live site.
  startToCloseTimeout: '45 minutes',
  // A dead worker is noticed within this; the next one resumes the attempt.
  heartbeatTimeout: '10 seconds',
  // The activity itself ends a rollout whose attempts make no progress; this bounds weather that never clears. An
  // outage of a provider stretches the waits of the later tries to hours (workers/failure-interceptor.ts).
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 30,
    nonRetryableErrorTypes,
  },
});

export const llm = proxyActivities<LlmActivities>({
  ...common,
  taskQueue: taskQueues.llm,
  // All questions of one rollout, or all votes of one comparison, from a busy server.
  startToCloseTimeout: '10 minutes',
  // A dead worker is noticed within this; the next one finds what was paid for in the journal.
  heartbeatTimeout: '10 seconds',
  // Rate limits name their own delay; the rest is a provider's bad hour.
  retry: {
    initialInterval: '2 seconds',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 30,
    nonRetryableErrorTypes,
  },
});

export const judge = proxyActivities<JudgeActivities>({
  ...common,
  taskQueue: taskQueues.judge,
  // One comparative call over eight traces by a reasoning model.
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '2 seconds',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 30,
    nonRetryableErrorTypes,
  },
});

const onCpu = {
  ...common,
  taskQueue: taskQueues.cpu,
  // Reads and one transaction; a bank of thousands of trackers takes seconds.
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    nonRetryableErrorTypes,
  },
} satisfies ActivityOptions;

export const cpu = proxyActivities<CpuActivities>({
  ...onCpu,
  // Long enough to sit out a restart, a failover or a restored backup of the database.
  retry: { ...onCpu.retry, maximumAttempts: 60 },
});

/** What becomes of a run. No number of tries: one that pauses because the database is away waits for it to say so. */
export const records = proxyActivities<Pick<CpuActivities, 'setRunState' | 'cancelRun'>>(onCpu);

export const gpu = proxyActivities<GpuActivities>({
  ...common,
  taskQueue: taskQueues.gpu,
  // One optimiser step of a 31B model over eight long trajectories.
  startToCloseTimeout: '2 hours',
  // A library that writes a checkpoint may hold the process for seconds.
  heartbeatTimeout: '20 seconds',
  // A GPU that has fallen off its bus is given time to be noticed.
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    maximumAttempts: 20,
    nonRetryableErrorTypes,
  },
});

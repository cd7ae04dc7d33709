/** Every timeout and retry policy of the house, one comment each saying why. */
import { proxyActivities } from '@temporalio/workflow';
import type {
  BrowserActivities,
  CpuActivities,
  GpuActivities,
  JudgeActivities,
  LlmActivities,
} from '../activities/contracts.ts';
import { faults } from './faults.ts';
import { taskQueues } from './names.ts';

const nonRetryableErrorTypes = [...faults];

export const browser = proxyActivities<BrowserActivities>({
  taskQueue: taskQueues.browser,
  // The longest honest rollout: 100 steps of a slow live site.
  startToCloseTimeout: '45 minutes',
  // A dead worker is noticed within this; the next one resumes the attempt.
  heartbeatTimeout: '10 seconds',
  // Queueing included: a suite may wait for a free browser for hours.
  scheduleToCloseTimeout: '6 hours',
  // The activity itself ends a rollout whose attempts make no progress; this bounds weather that never clears.
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 30,
    nonRetryableErrorTypes,
  },
});

export const llm = proxyActivities<LlmActivities>({
  taskQueue: taskQueues.llm,
  // All questions of one rollout, or all votes of one comparison, from a busy server.
  startToCloseTimeout: '10 minutes',
  // A dead worker is noticed within this; the next one finds what was paid for in the journal.
  heartbeatTimeout: '10 seconds',
  scheduleToCloseTimeout: '3 hours',
  // Rate limits name their own delay; the rest is a provider's bad hour.
  retry: {
    initialInterval: '2 seconds',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 20,
    nonRetryableErrorTypes,
  },
});

export const judge = proxyActivities<JudgeActivities>({
  taskQueue: taskQueues.judge,
  // One comparative call over eight traces by a reasoning model.
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10 seconds',
  scheduleToCloseTimeout: '3 hours',
  retry: {
    initialInterval: '2 seconds',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 20,
    nonRetryableErrorTypes,
  },
});

export const cpu = proxyActivities<CpuActivities>({
  taskQueue: taskQueues.cpu,
  // Reads and one transaction; a bank of thousands of trackers takes seconds.
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  // Long enough to sit out a database restart or failover.
  scheduleToCloseTimeout: '1 hour',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    maximumAttempts: 60,
    nonRetryableErrorTypes,
  },
});

export const gpu = proxyActivities<GpuActivities>({
  taskQueue: taskQueues.gpu,
  // One optimiser step of a 31B model over eight long trajectories.
  startToCloseTimeout: '2 hours',
  // A library that writes a checkpoint may hold the process for seconds.
  heartbeatTimeout: '20 seconds',
  // A GPU machine may have to be replaced by a person.
  scheduleToCloseTimeout: '24 hours',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 minutes',
    maximumAttempts: 20,
    nonRetryableErrorTypes,
  },
});

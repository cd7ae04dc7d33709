import { asyncLocalStorage, Context } from '@temporalio/activity';
import { type Logger, noopMetricMeter } from '@temporalio/common';

/** Runs `act` as Temporal would run an activity: with a context that takes heartbeats, and a signal. */
export function inActivity<T>(act: () => Promise<T>): Promise<T> {
  return asyncLocalStorage.run(activityContext(), act);
}

function activityContext(): Context {
  return new Context(
    {
      taskToken: new Uint8Array(),
      base64TaskToken: '',
      ...{ activityId: '1', activityType: 'test', activityNamespace: 'test', namespace: 'test' },
      ...{ attempt: 1, isLocal: false, taskQueue: 'test', inWorkflow: true },
      ...{ scheduledTimestampMs: 0, currentAttemptScheduledTimestampMs: 0 },
      ...{ scheduleToCloseTimeoutMs: 0, startToCloseTimeoutMs: 0 },
      heartbeatDetails: undefined,
    },
    new Promise<never>(() => undefined),
    new AbortController().signal,
    () => undefined,
    undefined,
    silent,
    noopMetricMeter,
    {},
  );
}

const say = (): void => undefined;
const silent: Logger = { log: say, trace: say, debug: say, info: say, warn: say, error: say };

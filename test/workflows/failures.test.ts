import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { pausingReason } from '../../workflows/failures.ts';

const failed = (cause: Error) =>
  new ActivityFailure('Activity task failed', 'rollOut', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'worker', cause);
const inChild = (cause: Error) =>
  new ChildWorkflowFailure(
    'default',
    { workflowId: 'w' },
    'trainStepWorkflow',
    'NON_RETRYABLE_FAILURE',
    cause,
  );
const timeout = (type: 'SCHEDULE_TO_CLOSE' | 'SCHEDULE_TO_START' | 'HEARTBEAT' | 'START_TO_CLOSE') =>
  new TimeoutFailure('activity timed out', undefined, type);

describe('an activity', () => {
  test.each(['SCHEDULE_TO_CLOSE', 'SCHEDULE_TO_START'] as const)(
    'that nobody took pauses the run, and the reason says who is missing: %s',
    (type) => {
      for (const error of [failed(timeout(type)), inChild(failed(timeout(type)))]) {
        expect(pausingReason(error)).toBe(
          'No worker finished rollOut in time. Start workers, then resume the run',
        );
      }
    },
  );

  test('that hangs, kills its workers or fails for a reason of its own stops nothing else', () => {
    const own = ApplicationFailure.create({ type: 'BrowserCrashed', message: 'again' });
    for (const cause of [timeout('HEARTBEAT'), timeout('START_TO_CLOSE'), own, new Error('a defect')]) {
      expect(pausingReason(inChild(failed(cause)))).toBeNull();
    }
  });
});

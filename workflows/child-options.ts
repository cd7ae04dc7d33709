import { ParentClosePolicy } from '@temporalio/workflow';

/** How every workflow of a run is started by the one above it. */
export const childOptions = {
  // With the default policy a child would end without cleaning up.
  parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
  // Short, so that a killed orchestrator's task is handed to the next one soon. Children do not inherit it.
  workflowTaskTimeout: '5 seconds',
} as const;

import type { CpuActivities } from '../contracts.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { buildBatch } from './build-batch.ts';
import { cancelRun } from './cancel-run.ts';
import { certify } from './certify.ts';
import { closeRollout } from './close-rollout.ts';
import { commitTrainingStep } from './commit-training-step.ts';
import type { CpuDependencies } from './dependencies.ts';
import { listEvaluationTasks, planEvaluationTask, recordSelection } from './evaluation.ts';
import { finishTraining } from './finish-training.ts';
import { planTrainingStep } from './plan-training-step.ts';
import { repairBank } from './repair-bank.ts';

export function createCpuActivities(dependencies: CpuDependencies): CpuActivities {
  const { store } = dependencies;
  return {
    planTrainingStep: (at) => alive(() => planTrainingStep(store, at)),
    certify: (at) => alive(() => certify(store, at)),
    buildBatch: (at) => alive(() => buildBatch(store, at)),
    commitTrainingStep: (input) => alive(() => commitTrainingStep(dependencies, input)),
    repairBank: (at) => alive(() => repairBank(store, at)),
    finishTraining: (input) => alive(() => finishTraining(dependencies, input)),
    setRunState: ({ runId, state, reason }) => alive(() => store.setRunState(runId, state, reason)),
    cancelRun: (input) => alive(() => cancelRun(dependencies, input)),
    closeRollout: (input) => alive(() => closeRollout(store, input)),
    listEvaluationTasks: (input) => alive(() => listEvaluationTasks(store, input)),
    planEvaluationTask: (input) => alive(() => planEvaluationTask(store, input)),
    recordSelection: (input) => alive(() => recordSelection(dependencies, input)),
  };
}

/** Even a short one: without heartbeats the death of its worker would be noticed at its timeout only. */
const alive = <T>(act: () => Promise<T>): Promise<T> => withHeartbeat(() => act());

import type { CpuActivities } from '../contracts.ts';
import { buildBatch } from './build-batch.ts';
import { certify } from './certify.ts';
import { commitTrainingStep } from './commit-training-step.ts';
import type { CpuDependencies } from './dependencies.ts';
import { listEvaluationTasks, planEvaluationTask, recordSelection } from './evaluation.ts';
import { finishTraining } from './finish-training.ts';
import { planTrainingStep } from './plan-training-step.ts';
import { repairBank } from './repair-bank.ts';

export function createCpuActivities(dependencies: CpuDependencies): CpuActivities {
  const { store } = dependencies;
  return {
    planTrainingStep: (at) => planTrainingStep(store, at),
    certify: (at) => certify(store, at),
    buildBatch: (at) => buildBatch(store, at),
    commitTrainingStep: (input) => commitTrainingStep(dependencies, input),
    repairBank: (at) => repairBank(store, at),
    finishTraining: (input) => finishTraining(dependencies, input),
    setRunState: ({ runId, state, reason }) => store.setRunState(runId, state, reason),
    listEvaluationTasks: (input) => listEvaluationTasks(store, input),
    planEvaluationTask: (input) => planEvaluationTask(store, input),
    recordSelection: (input) => recordSelection(dependencies, input),
  };
}

/** Everything that the orchestrator's worker serves. */
export { evaluatePartWorkflow } from './evaluate-part.ts';
export { evaluateSuiteWorkflow } from './evaluate-suite.ts';
export { evaluateTaskWorkflow } from './evaluate-task.ts';
export { growBankWorkflow } from './grow-bank.ts';
export { trainRunWorkflow } from './train-run.ts';
export { trainShardWorkflow } from './train-shard.ts';
export { trainStepWorkflow } from './train-step.ts';

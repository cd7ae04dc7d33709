import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { seedQuestion } from '../activities/question-id.ts';
import type { EvaluateConfig, RunConfig, TrainConfig } from '../activities/run-config.ts';
import type { BankStore, Run } from '../bank-store/contract.ts';
import type { Split, Task } from '../benchmarks/contract.ts';
import type { Chromium } from '../infra/chromium.ts';
import { codeVersion } from '../workers/code-version.ts';
import { endpointFor } from '../workers/endpoints.ts';
import { benchmarkNamed, modelIdentities, type Reach, seedQuestions } from '../workers/parts.ts';
import type { Settings } from '../workers/settings.ts';
import type { evaluateSuiteWorkflow } from '../workflows/evaluate-suite.ts';
import { randomGenerator } from '../workflows/method/random.ts';
import { evaluateSuiteId, taskQueues, trainRunId } from '../workflows/names.ts';
import type { trainRunWorkflow } from '../workflows/train-run.ts';
import { runIdentity } from './identity.ts';
import { refuseUnknownPrices } from './known-prices.ts';
import { resumeRun } from './run-control.ts';
import { filterTasks } from './task-filter.ts';

/** What starting a run needs of the place. */
export interface Place {
  readonly settings: Settings;
  readonly store: BankStore;
  readonly client: Client;
  readonly chromium: Chromium;
}

export interface StartedRun {
  readonly run: Run;
  /** Null for a run that was completed before. */
  readonly handle: WorkflowHandle | null;
}

/** Starts a run of either kind, or joins it. */
export function startRun(place: Place, name: string, config: RunConfig): Promise<StartedRun> {
  return config.kind === 'train' ? startTraining(place, name, config) : startEvaluation(place, name, config);
}

/** Starts a training run, or joins it if it exists with the same identity. Every step of it can be repeated. */
export async function startTraining(place: Place, name: string, config: TrainConfig): Promise<StartedRun> {
  const run = await prepareRun(place, name, config, 'train');
  const { useBank, growEverySteps } = config.hyperparameters;
  const questions = useBank ? seedQuestions.map(seedQuestion) : [];
  for (let shard = 0; shard < config.shards; shard += 1) {
    await place.store.saveQuestions({ runId: run.id, shard, step: -1 }, questions);
  }
  return startOrJoin(place, run, trainRunId(run.id), (options) =>
    place.client.workflow.start<typeof trainRunWorkflow>('trainRunWorkflow', {
      ...options,
      args: [
        {
          runId: run.id,
          shards: config.shards,
          steps: config.steps,
          growEverySteps: useBank ? growEverySteps : null,
        },
      ],
    }),
  );
}

/** Starts an evaluation of the held-out tasks, or joins it. */
export async function startEvaluation(
  place: Place,
  name: string,
  config: EvaluateConfig,
): Promise<StartedRun> {
  const run = await prepareRun(place, name, config, 'heldout');
  const tasks = (await place.store.taskList(run.id)).length;
  return startOrJoin(place, run, evaluateSuiteId(run.id), (options) =>
    place.client.workflow.start<typeof evaluateSuiteWorkflow>('evaluateSuiteWorkflow', {
      ...options,
      args: [{ runId: run.id, tasks, concurrency: config.concurrency, nextPart: 0 }],
    }),
  );
}

/** Run row, tasks and the pinned list (invariant 10); a run that exists with another identity is refused. */
async function prepareRun(
  { store, settings, chromium }: Place,
  name: string,
  config: RunConfig,
  split: Split,
): Promise<Run> {
  const benchmark = benchmarkNamed(config.benchmark, settings);
  const { taskLimit, suite } = config.kind === 'evaluate' ? config : { taskLimit: null };
  const chosen = filterTasks(benchmark.tasks, { split, ...(suite !== undefined && { suite }) });
  if (chosen.length === 0) throw new Error(`${config.benchmark} has no ${split} tasks of that kind`);
  const tasks = dealByApp(chosen).slice(0, taskLimit ?? undefined);
  const taskIds = tasks.map((task) => task.id);
  const reach: Reach = (choice) => endpointFor(choice, settings, store);
  const models = modelIdentities(config, reach);
  refuseUnknownPrices(config, reach);
  const run = await store.createRun({
    id: name,
    kind: config.kind,
    seed: config.seed,
    identity: runIdentity({ config, benchmark, taskIds, chromium, models }),
    config,
    codeVersion: codeVersion(settings.projectDirectory),
  });
  await store.registerTasks(tasks);
  await store.pinTaskList(run.id, taskIds);
  return run;
}

/** One task of each app in turn, in an order of no meaning, so that the first n of them are a fair sample. */
function dealByApp(tasks: readonly Task[]): readonly Task[] {
  const hands = [...Map.groupBy(tasks, (task) => task.app)].map(([app, hand]) =>
    // The same for every run: a sample is part of what two runs are compared on.
    randomGenerator(['task sample', app]).shuffle(hand),
  );
  const longest = Math.max(0, ...hands.map((hand) => hand.length));
  return Array.from({ length: longest }, (_, turn) => hands.flatMap((hand) => hand[turn] ?? [])).flat();
}

/**
 * A workflow that failed or was lost is started again and finds its work in the store; a finished one is joined, and
 * a paused one goes on.
 */
async function startOrJoin(
  { client }: Place,
  run: Run,
  workflowId: string,
  start: (options: ReturnType<typeof startOptions>) => Promise<WorkflowHandle>,
): Promise<StartedRun> {
  if (run.state === 'completed') return { run, handle: null };
  if (run.state === 'cancelled') {
    throw new Error(`run ${run.id} was cancelled, for good; what it finished stays. Start another name.`);
  }
  try {
    const handle = await start(startOptions(workflowId, run));
    if (run.state === 'paused') await resumeRun(handle, run.id);
    return { run, handle };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { run, handle: client.workflow.getHandle(workflowId) };
  }
}

function startOptions(workflowId: string, { id, kind }: Run) {
  return {
    workflowId,
    taskQueue: taskQueues.orchestrator,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    // Short, so that a killed orchestrator's task is handed to the next one soon.
    workflowTaskTimeout: '5 seconds',
    memo: { run: id, kind },
    staticSummary: `${kind} ${id}`,
  } as const;
}

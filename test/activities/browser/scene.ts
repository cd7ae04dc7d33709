import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserParts } from '../../../activities/browser/parts.ts';
import { PolicyCache } from '../../../activities/browser/policy-cache.ts';
import { rollOut } from '../../../activities/browser/roll-out.ts';
import type { RolloutSummary } from '../../../activities/contracts.ts';
import type { NewRollout } from '../../../bank-store/contract.ts';
import type { Action, Benchmark, Environment, Task } from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import type { PolicyFactory, PolicyRequest } from '../../../models/contract.ts';
import { rollout, run, type Store } from '../../bank-store/fixtures.ts';
import { trainConfig } from '../../support/run-config.ts';
import type { TestPool } from './support.ts';

export const sandbox = createSandboxBenchmark();

/** A task of the sandbox that takes several steps. */
export const task: Task = taskOf((candidate) => candidate.difficulty === 'hard' && !candidate.expectsAnswer);

function taskOf(wanted: (task: Task) => boolean): Task {
  const found = sandbox.tasks.find(wanted);
  if (found === undefined) throw new Error('The sandbox has no such task.');
  return found;
}

export type Script = (request: PolicyRequest, call: number) => Action | Promise<Action>;

/** Knows the solution. */
export const oracle: Script = ({ observation, history }) => sandbox.oracleAction(task, observation, history);

export interface Scene {
  readonly store: Store;
  /** What the policy was asked, in order. */
  readonly asked: PolicyRequest[];
  /** Environments that are open now. */
  open: number;
  openRollout(id: string, change?: Partial<NewRollout>): Promise<string>;
  rollOut(rolloutId: string, signal?: AbortSignal): Promise<RolloutSummary>;
}

export interface SceneOptions {
  readonly store: Store;
  readonly testPool: TestPool;
  readonly script: Script;
  readonly benchmark?: Partial<Benchmark>;
  /** A task of that benchmark. */
  readonly task?: Task;
  /** Changes what the nth life of an environment (from 0) does. */
  readonly environment?: (environment: Environment, life: number) => Partial<Environment>;
  readonly screenshots?: BrowserParts['screenshots'];
  /** The policy looks at pages. */
  readonly looksAtImages?: boolean;
}

export function createScene({ store, testPool, script, ...options }: SceneOptions): Scene {
  const { task: played = task } = options;
  const asked: PolicyRequest[] = [];
  let lives = 0;
  const benchmark: Benchmark = {
    ...sandbox,
    open: async (opened, signal) => {
      const environment = await sandbox.open(opened, signal);
      scene.open += 1;
      const close = async () => {
        scene.open -= 1;
        await environment.close();
      };
      lives += 1;
      return { ...environment, ...options.environment?.(environment, lives - 1), close };
    },
    ...options.benchmark,
  };
  const parts: BrowserParts = {
    store,
    pool: testPool.pool,
    policiesFor: () => scripted(script, asked, options.looksAtImages ?? false),
    benchmarkNamed: () => benchmark,
    worker: 'test',
    screenshots: options.screenshots ?? 'off',
  };
  const policies = new PolicyCache(parts.policiesFor, store.blobs);
  const scene: Scene = {
    store,
    asked,
    open: 0,
    openRollout: async (id, change) => {
      await store.createRun({ ...run, config: trainConfig });
      await store.registerTasks([played]);
      await store.openRollouts([rollout(id, { taskId: played.id, maxSteps: played.maxSteps, ...change })]);
      return id;
    },
    rollOut: (rolloutId, signal = new AbortController().signal) =>
      rollOut(parts, policies, { runId: run.id, rolloutId }, signal),
  };
  return scene;
}

function scripted(script: Script, asked: PolicyRequest[], looksAtImages: boolean): PolicyFactory {
  const identity = { provider: 'test', model: 'script', revision: '1' };
  return {
    identity,
    open: async () => ({
      identity,
      looksAtImages: (benchmark) => looksAtImages && benchmark === 'sandbox',
      decide: async (request) => {
        asked.push(request);
        return {
          action: await script(request, asked.length - 1),
          prompt: { seen: request.observation.url },
          tokenIds: [1, 2],
          logProbs: [-0.5, -0.25],
          toolCallSpan: [0, 2],
          cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 },
        };
      },
    }),
  };
}

/** Ends the pool's browser as a crash would. */
export function killBrowser({ leaseDirectory }: TestPool): void {
  for (const name of readdirSync(leaseDirectory)) {
    const lease: { browser: { pid: number } } = JSON.parse(readFileSync(join(leaseDirectory, name), 'utf8'));
    process.kill(lease.browser.pid, 'SIGKILL');
  }
}

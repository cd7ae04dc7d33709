import type { BankStore, NewRollout } from '../../bank-store/contract.ts';
import type { Benchmark, Task } from '../../benchmarks/contract.ts';
import type { Policy, PolicyFactory } from '../../models/contract.ts';
import type { Ceilings, ModelChoice } from '../model-config.ts';
import type { BrowserPool } from './pool.ts';

/** What the browser queue's activity is built from. */
export interface BrowserParts {
  readonly store: BankStore;
  readonly pool: BrowserPool;
  readonly policiesFor: (choice: ModelChoice) => PolicyFactory;
  /** Throws for a name that this process does not know. */
  readonly benchmarkNamed: (name: string) => Benchmark;
  /** Names this worker in the record of an attempt. */
  readonly worker: string;
  /** After each action, of the final state only, or never. */
  readonly screenshots: 'every_step' | 'final' | 'off';
}

/** What a rollout is to do, whatever attempt does it. */
export interface RolloutPlan {
  readonly runId: string;
  readonly rollout: NewRollout;
  readonly task: Task;
  readonly benchmark: Benchmark;
  readonly policy: Policy;
  readonly ceilings: Ceilings;
}

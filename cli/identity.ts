import { createHash } from 'node:crypto';
import type { RunConfig } from '../activities/run-config.ts';
import type { NewRun } from '../bank-store/contract.ts';
import type { Benchmark } from '../benchmarks/contract.ts';
import type { Chromium } from '../infra/chromium.ts';
import type { ModelIdentity } from '../models/contract.ts';

type Identity = NewRun['identity'];

/** Everything that could change a run's result (invariant 7), flat, so that two runs can be compared line by line. */
export function runIdentity(given: {
  readonly config: RunConfig;
  readonly benchmark: Benchmark;
  readonly taskIds: readonly string[];
  readonly chromium: Chromium;
  readonly models: Readonly<Record<string, ModelIdentity>>;
}): Identity {
  const { benchmark, taskIds, chromium, models } = given;
  // Ceilings change what is paid, never what comes out; of the models only who they are and how they are asked.
  const { ceilings: _, models: __, ...pinned } = given.config;
  return {
    ...flatten('', pinned),
    'benchmark.revision': benchmark.revision,
    'benchmark.tasks': createHash('sha256').update(JSON.stringify(taskIds)).digest('hex'),
    'browser.kind': chromium.kind,
    'browser.version': chromium.version,
    'browser.locale': 'en-US',
    'browser.timezone': 'UTC',
    'browser.clock': benchmark.clock,
    ...flatten('models.', models),
  };
}

function flatten(prefix: string, value: object): Identity {
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, field]): Identity => {
      if (Array.isArray(field)) return { [prefix + name]: JSON.stringify(field) };
      if (typeof field === 'object' && field !== null) return flatten(`${prefix}${name}.`, field);
      return { [prefix + name]: field };
    }),
  );
}

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { examineWorkflowBundle, findBundleProblems } from '../../infra/workflow-bundle.ts';

const house = fileURLToPath(new URL('../..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'clift-check-'));
afterAll(() => rmSync(directory, { recursive: true }));

for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json', 'biome.json']) {
  cpSync(join(house, name), join(directory, name));
}
symlinkSync(join(house, 'node_modules'), join(directory, 'node_modules'));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

/** Breaches found by the walls' own configuration, as "rule: from". */
function breaches(): string[] {
  const program = realpathSync(join(house, 'node_modules', '.bin', 'depcruise'));
  const rooms = [...new Set(Object.keys(FILES).map((path) => path.split('/')[0] ?? ''))];
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...rooms];
  let output: string;
  try {
    // By this Node, as the check command does: the one on the PATH may be too old.
    output = execFileSync(process.execPath, [program, ...args], {
      ...{ cwd: directory, encoding: 'utf8', maxBuffer: 2 ** 26 },
    });
  } catch (error) {
    // depcruise ends with the number of breaches.
    output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
  const { summary } = JSON.parse(output);
  return summary.violations.map(
    ({ rule, from }: { rule: { name: string }; from: string }) => `${rule.name}: ${from}`,
  );
}

/** Each file breaches the wall that it is listed under; the imports that a wall allows stand beside them. */
const FILES = {
  'workflows/method/types.ts': 'export interface Tracker { n: number }',
  'workflows/method/equation.ts':
    "import type { Tracker } from './types.ts';\nexport const n = (t: Tracker) => t.n;",
  'workflows/method/impure.ts': "import { z } from 'zod';\nexport const a = z;",
  'workflows/method/random-id.ts': "import { randomUUID } from 'node:crypto';\nexport const a = randomUUID;",
  'workflows/names.ts':
    "import type { Contract } from '../activities/contracts.ts';\nimport { n } from './method/equation.ts';\nimport { sleep } from '@temporalio/workflow';\nexport const a: Contract = { n, sleep };",
  'workflows/parses.ts': "import { z } from 'zod';\nexport const a = z;",
  'workflows/value.ts': "import { value } from '../activities/contracts.ts';\nexport const a = value;",
  'activities/contracts.ts':
    'export interface Contract { n: unknown; sleep: unknown }\nexport const value = 1;',
  'activities/browser/one.ts': "import { two } from '../llm/two.ts';\nexport const one = two;",
  'activities/llm/two.ts':
    "import { a } from '../../workflows/names.ts';\nimport { n } from '../../workflows/method/equation.ts';\nexport const two = [a, n];",
  'activities/llm/starts.ts': "import { a } from '../../workflows/parses.ts';\nexport const b = a;",
  'activities/bank/joins.ts': "import { store } from '../../bank-store/store.ts';\nexport const b = store;",
  'bank-store/store.ts':
    "import pg from 'pg';\nimport type { Contract } from '../activities/contracts.ts';\nexport const store: [unknown, Contract | null] = [pg, null];",
  'bank-store/durable.ts': "import { Client } from '@temporalio/client';\nexport const c = Client;",
  'bank-store/runs.ts': "import { value } from '../activities/contracts.ts';\nexport const c = value;",
  'models/reads-store.ts': "import { store } from '../bank-store/store.ts';\nexport const m = store;",
  'models/durable.ts': "import { sleep } from '@temporalio/activity';\nexport const m = sleep;",
  'benchmarks/knows-visitor.ts': "import { two } from '../activities/llm/two.ts';\nexport const b = two;",
  'infra/knows-house.ts': "import { store } from '../bank-store/store.ts';\nexport const i = store;",
  'infra/reads-settings.ts': "import { settings } from '../workers/settings.ts';\nexport const i = settings;",
  'dashboard/joins.ts': "import { main } from '../cli/joins.ts';\nexport const d = main;",
  'cli/joins.ts':
    "import { two } from '../activities/llm/two.ts';\nimport { store } from '../bank-store/store.ts';\nexport const main = [two, store];",
  'cli/mirrored.ts': "import { helper } from '../test/helper.ts';\nexport const m = helper;",
  'cli/tests.ts': "import { it } from 'vitest';\nexport const m = it;",
  'workers/settings.ts': "import { n } from '../workflows/method/equation.ts';\nexport const settings = n;",
  'workers/chicken.ts': "import { egg } from './egg.ts';\nexport const chicken = () => egg;",
  'workers/egg.ts': "import { chicken } from './chicken.ts';\nexport const egg = () => chicken;",
  'workers/alone.ts': 'export const alone = 1;',
  'test/helper.ts': "import { store } from '../bank-store/store.ts';\nexport const helper = store;",
};

it('every breach of a wall is reported, and nothing else is', () => {
  write(FILES);
  expect(breaches().sort()).toEqual(
    [
      'wall-1-method-is-pure: workflows/method/impure.ts',
      'wall-1-method-is-pure: workflows/method/random-id.ts',
      'wall-2-workflows-are-deterministic: workflows/parses.ts',
      'wall-2-activities-are-types-to-workflows: workflows/value.ts',
      'wall-3-bank-store-is-memory-only: bank-store/durable.ts',
      'wall-3-contracts-are-types-to-the-bank-store: bank-store/runs.ts',
      'wall-4-activities-are-strangers: activities/browser/one.ts',
      'wall-4-activities-start-no-workflow: activities/llm/starts.ts',
      'wall-5-activities-get-their-parts: activities/bank/joins.ts',
      'wall-5-models-know-contracts: models/reads-store.ts',
      'wall-5-models-know-contracts: models/durable.ts',
      'wall-5-benchmarks-are-places: benchmarks/knows-visitor.ts',
      'wall-5-infra-is-ground: infra/knows-house.ts',
      'wall-5-only-front-doors-join: dashboard/joins.ts',
      'wall-6-no-cycles: workers/chicken.ts',
      'wall-6-no-orphans: workers/alone.ts',
      'wall-6-tests-are-a-mirror: cli/mirrored.ts',
      'production-runs-without-development-packages: cli/tests.ts',
    ].sort(),
  );
});

it('only workers/settings.ts may read the environment', () => {
  const read = 'export const home = process.env.HOME;\n';
  write({ 'workers/settings.ts': read, 'cli/joins.ts': read });
  const lint = (path: string) => {
    try {
      return execFileSync(
        join(house, 'node_modules', '.bin', 'biome'),
        ['lint', '--vcs-enabled=false', path],
        {
          cwd: directory,
          encoding: 'utf8',
          stdio: 'pipe',
        },
      );
    } catch (error) {
      return error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    }
  };
  expect(lint('workers/settings.ts')).not.toContain('noProcessEnv');
  expect(lint('cli/joins.ts')).toContain('noProcessEnv');
});

it('a workflow bundle that reaches zod, a Node module or the size limit is refused with the reason', async () => {
  const fine = '/***/ "./workflows/index.ts"\n/***/ },\n';
  expect(findBundleProblems(fine)).toEqual([]);
  expect(findBundleProblems(`${fine}/***/ "./node_modules/zod/v4/core.js"\n`)[0]).toContain('zod');
  expect(findBundleProblems(`${fine}/***/ "node:fs"\n`)[0]).toContain('node:fs');
  expect(findBundleProblems(fine + ' '.repeat(700_000))[0]).toContain('limit');
});

it('the bundle check recognises zod in a bundle that Temporal made', async () => {
  write({
    'bundled/schema.ts':
      "import { z } from 'zod';\nexport async function schemaWorkflow() { return z.string().parse('a'); }\n",
  });
  expect(await examineWorkflowBundle(join(directory, 'bundled/schema.ts'))).toContain('reaches zod');
});

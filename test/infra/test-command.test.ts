import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const house = fileURLToPath(new URL('../..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'clift-test-command-'));
afterAll(() => rmSync(directory, { recursive: true }));

// The command with whatever it imports.
for (const name of [
  'activities',
  'bank-store',
  'cli',
  'infra',
  'models',
  'workers',
  'workflows',
  'package.json',
]) {
  cpSync(join(house, name), join(directory, name), { recursive: true });
}
symlinkSync(join(house, 'node_modules'), join(directory, 'node_modules'));

const FILES = {
  'vitest.config.ts': "export default { test: { include: ['test/*.test.ts'] } };",
  'run.ts': `import { test } from './cli/commands/test.ts';
import { loadSettings } from './workers/settings.ts';
await test(loadSettings(), process.argv.slice(2));`,
  'test/good.test.ts': `import { it } from 'vitest';
it('holds', () => {});
it('needs a GPU', (context) => context.skip('no GPU here'));
it.skip('is put off', () => {});`,
  'test/bad.test.ts': `import { it } from 'vitest';
it('holds', () => {});
it('breaks', () => { throw new Error('no'); });`,
  'test/unloadable.test.ts': "import './absent.ts';",
  'test/setup.test.ts': `import { beforeAll, describe, it } from 'vitest';
describe('a suite', () => {
  beforeAll(() => { throw new Error('no server'); });
  it('never runs', () => {});
});`,
  'test/outside.test.ts': `import { it } from 'vitest';
it('leaves a rejection behind', () => void Promise.reject(new Error('unheard')));`,
};
mkdirSync(join(directory, 'test'));
for (const [path, text] of Object.entries(FILES)) writeFileSync(join(directory, path), text);

/** Runs from another directory, as `./clift test` may be. */
function run(...filters: string[]): Promise<{ status: number | null; lines: string[] }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(directory, 'run.ts'), ...filters],
      { cwd: tmpdir() },
      (_, stdout) => resolve({ status: child.exitCode, lines: stdout.trimEnd().split('\n') }),
    );
  });
}

it('the last line counts, the lines above it give the reason of each skip, and success is status 0', async () => {
  const { status, lines } = await run('good');
  expect(lines.slice(-3)).toEqual([
    'skipped: test/good.test.ts > needs a GPU: no GPU here',
    'skipped: test/good.test.ts > is put off: no reason given',
    '1 passed, 0 failed, 2 skipped',
  ]);
  expect(status).toBe(0);
});

it.each([
  ['bad', '1 passed, 1 failed, 0 skipped'],
  ['unloadable', '0 passed, 1 failed, 0 skipped'],
  ['outside', '1 passed, 1 failed, 0 skipped'],
  ['nothing-of-the-kind', '0 passed, 0 failed, 0 skipped'],
])('a run of the %s file ends with "%s" and status 1', async (filter, lastLine) => {
  const { status, lines } = await run(filter);
  expect(lines.at(-1)).toBe(lastLine);
  expect(status).toBe(1);
});

it('a suite whose setup fails is a failure, although its tests only count as skipped', async () => {
  const { status, lines } = await run('setup');
  expect(lines.at(-1)).toMatch(/^0 passed, [1-9]\d* failed, \d+ skipped$/);
  expect(status).toBe(1);
});

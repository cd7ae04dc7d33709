import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { examineWorkflowBundle } from './workflow-bundle.ts';

/** One thing that is checked. Resolves to what is wrong; empty when nothing is. */
type Check = () => Promise<string>;

export const ROOMS = [
  'workflows',
  'activities',
  'benchmarks',
  'models',
  'bank-store',
  'workers',
  'cli',
  'dashboard',
  'infra',
  'test',
];

/** Runs every check at once, printing one line for each and the details of those that failed. */
export async function runChecks(projectDirectory: string): Promise<boolean> {
  const tool = (name: string, ...args: string[]) => runTool(projectDirectory, name, args);
  const rooms = ROOMS.filter((room) => existsSync(join(projectDirectory, room)));
  const checks: Readonly<Record<string, Check>> = {
    'format and lint': () => tool('biome', 'check', '--error-on-warnings', '--colors=off'),
    types: () => tool('tsc', '--project', '.', '--noEmit', '--pretty', 'false'),
    walls: () => tool('depcruise', '--config', '.dependency-cruiser.cjs', ...rooms),
    'unused code': () => tool('knip', '--no-progress'),
    'workflow bundle': () => examineWorkflowBundle(join(projectDirectory, 'workflows', 'index.ts')),
  };
  const failures = await Promise.all(Object.entries(checks).map(([name, check]) => report(name, check)));
  const details = failures.filter((failure) => failure !== '');
  for (const detail of details) console.log(`\n${detail}`);
  return details.length === 0;
}

async function report(name: string, check: Check): Promise<string> {
  const start = performance.now();
  const problems = await check();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${problems === '' ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)} ${seconds.padStart(5)} s`);
  return problems === '' ? '' : `${name}:\n${problems}`;
}

const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

function runTool(projectDirectory: string, name: string, args: readonly string[]): Promise<string> {
  // By this Node: the one on the PATH may be too old for the tool, which is why the launcher brings its own.
  const program = realpathSync(join(projectDirectory, 'node_modules', '.bin', name));
  const options = { cwd: projectDirectory, maxBuffer: OUTPUT_LIMIT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}`.trim() || error.message : '');
    });
  });
}

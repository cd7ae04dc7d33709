import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { firstOutput } from '../support/children.ts';

const root = mkdtempSync(join(tmpdir(), 'clift launcher '));
afterAll(() => rmSync(root, { recursive: true }));

/** A copy of the launcher in a project whose program only says how it was called. */
interface Place {
  readonly project: string;
  /** The only directory on PATH besides the system's, which has no Node. */
  readonly tools: string;
  readonly npmLog: string;
}

let place: Place;
let places = 0;

beforeEach(() => {
  const directory = join(root, String(places++));
  const project = join(directory, 'the project');
  const tools = join(directory, 'tools');
  mkdirSync(join(project, 'cli'), { recursive: true });
  mkdirSync(tools);
  copyFileSync(fileURLToPath(new URL('../../clift', import.meta.url)), join(project, 'clift'));
  writeFileSync(join(project, 'package-lock.json'), '{"lock": 1}');
  writeFileSync(join(project, 'cli', 'main.ts'), PROGRAM);
  place = { project, tools, npmLog: join(directory, 'npm.log') };
  for (const name of SYSTEM_TOOLS) symlinkSync(findTool(name), join(tools, name));
});

/** All that the launcher may count on besides the shell. */
const SYSTEM_TOOLS = 'cat cksum dirname ln mkdir mv readlink rm rmdir sleep uname'.split(' ');

function findTool(name: string): string {
  const path = ['/bin', '/usr/bin'].map((directory) => join(directory, name)).find(existsSync);
  if (path === undefined) throw new Error(`this machine has no ${name}`);
  return path;
}

const PROGRAM = `
const facts: Record<string, unknown> = { args: process.argv.slice(2), node: process.execPath, pid: process.pid };
console.log(JSON.stringify(facts));
if (process.argv[2] === 'fail') process.exit(7);
if (process.argv[2] === 'wait') setTimeout(() => {}, 60_000);
`;

function addTool(name: string, script: string): void {
  writeFileSync(join(place.tools, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(place.tools, name), 0o755);
}

function addNode(): void {
  symlinkSync(process.execPath, join(place.tools, 'node'));
}

/** Writes down how it was called; "installs" this machine's Node, or an empty node_modules. */
function addNpm({ ciScript = 'mkdir -p node_modules' } = {}): void {
  addTool(
    'npm',
    `echo "$1" >> '${place.npmLog}'
if [ "$1" = ci ]; then ${ciScript}; exit; fi
for package; do :; done
bin="$3/node_modules/\${package%@24}/bin"
mkdir -p "$bin" && ln -s '${process.execPath}' "$bin/node"`,
  );
}

function npmCalls(): string[] {
  return existsSync(place.npmLog) ? readFileSync(place.npmLog, 'utf8').trim().split('\n') : [];
}

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function options(cwd: string) {
  return { cwd, env: { PATH: place.tools } };
}

function launch(args: string[], script = join(place.project, 'clift'), cwd = tmpdir()): Promise<Outcome> {
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(
      '/bin/sh',
      [script, ...args],
      options(cwd),
      (_error, stdout, stderr) => resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

it('a machine with Node 24 uses it, with the arguments untouched, from any directory and through a link', async () => {
  addNode();
  addNpm();
  const link = join(place.tools, 'clift-link');
  symlinkSync('../the project/clift', link);
  const { status, stdout } = await launch(['run it', '--flag=$HOME', '*'], link, '/');
  expect(JSON.parse(stdout)).toMatchObject({ args: ['run it', '--flag=$HOME', '*'], node: process.execPath });
  expect(status).toBe(0);
});

it('a machine whose Node is older is brought Node 24, once', async () => {
  addTool('node', 'echo 20');
  addNpm();
  const { stdout } = await launch([]);
  expect(JSON.parse(stdout).args).toEqual([]);
  expect(existsSync(join(place.project, '.clift', 'cache', 'node-24', 'bin', 'node'))).toBe(true);
  await launch([]);
  expect(npmCalls()).toEqual(['install', 'ci']);
});

it('packages are installed again when the lock changed, and only then', async () => {
  addNode();
  addNpm();
  await launch([]);
  await launch([]);
  expect(npmCalls()).toEqual(['ci']);
  writeFileSync(join(place.project, 'package-lock.json'), '{"lock": 2}');
  await launch([]);
  expect(npmCalls()).toEqual(['ci', 'ci']);
});

it('packages are not taken away from workers that run on them', async () => {
  addNode();
  addNpm({ ciScript: 'mkdir -p node_modules/.bin' });
  await launch([]);
  mkdirSync(join(place.project, 'workers'));
  const program = join(place.project, 'workers', 'worker.ts');
  writeFileSync(program, 'console.log("working"); setInterval(() => {}, 60_000);');
  const worker = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await firstOutput(worker);
    writeFileSync(join(place.project, 'package-lock.json'), '{"lock": 2}');
    const { status, stdout, stderr } = await launch(['show']);
    expect(npmCalls()).toEqual(['ci']);
    expect(JSON.parse(stdout).args).toEqual(['show']);
    expect(status).toBe(0);
    expect(stderr).toContain('clift drain');
  } finally {
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }
  await launch(['show']);
  expect(npmCalls()).toEqual(['ci', 'ci']);
});

it('an installation that failed names the remedy and is done again at the next launch', async () => {
  addNode();
  addNpm({ ciScript: 'mkdir -p node_modules; exit 1' });
  const failed = await launch([]);
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('npm ci');
  expect(failed.stdout).toBe('');
  addNpm();
  expect((await launch([])).status).toBe(0);
  expect(npmCalls()).toEqual(['ci', 'ci']);
});

it('an installation that was killed is done again, and its lock is no obstacle', async () => {
  addNode();
  addNpm({ ciScript: 'mkdir -p node_modules; kill -9 $PPID; sleep 1' });
  expect((await launch([])).stdout).toBe('');
  addNpm();
  expect((await launch([])).status).toBe(0);
  expect(npmCalls()).toEqual(['ci', 'ci']);
});

it('two launches at once install once, and both run', async () => {
  addNode();
  addNpm({ ciScript: 'mkdir -p node_modules; sleep 1' });
  const outcomes = await Promise.all([launch(['a']), launch(['b'])]);
  expect(outcomes.map(({ stdout }) => JSON.parse(stdout).args[0])).toEqual(['a', 'b']);
  expect(npmCalls()).toEqual(['ci']);
});

it('without npm, the message says what to install', async () => {
  addNode();
  const withoutNpm = await launch([]);
  expect(withoutNpm.status).toBe(1);
  expect(withoutNpm.stderr).toMatch(/npm was not found.*install the packages[\s\S]*Install Node/);
  rmSync(join(place.tools, 'node'));
  expect((await launch([])).stderr).toMatch(/npm was not found.*bring Node 24[\s\S]*Install Node/);
});

it('the program takes the launcher’s place: its exit status and its signals are its own', async () => {
  addNode();
  addNpm();
  expect((await launch(['fail'])).status).toBe(7);
  const child = spawn('/bin/sh', [join(place.project, 'clift'), 'wait'], {
    ...options('/'),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(await firstOutput(child)).pid).toBe(child.pid);
  child.kill('SIGTERM');
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGTERM');
});

it('a home that cannot be created is refused with the variable to set', async () => {
  addNode();
  addNpm();
  writeFileSync(join(place.project, '.clift'), 'a file where the home should be');
  const { status, stderr } = await launch([]);
  expect(status).toBe(1);
  expect(stderr).toContain('CLIFT_HOME');
});

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import {
  identifyProcess,
  isAlive,
  type ProcessIdentity,
  readServerRecord,
  startDetached,
  stopProcess,
  waitUntil,
  writeServerRecord,
} from '../../infra/processes.ts';

const directory = mkdtempSync(join(tmpdir(), 'clift-processes-'));
const logPath = join(directory, 'log');
const started: ProcessIdentity[] = [];

afterEach(async () => {
  for (const identity of started.splice(0)) await stopProcess(identity, 'SIGKILL', 5000);
});
afterAll(() => rmSync(directory, { recursive: true }));

async function start(script: string): Promise<ProcessIdentity> {
  const identity = await startDetached({ command: 'sh', args: ['-c', script], logPath });
  started.push(identity);
  return identity;
}

it('a stranger that was given a recorded pid is neither taken for ours nor ended', async () => {
  const stranger = await start('sleep 60');
  const ours = { pid: stranger.pid, startedAt: `${Number.parseInt(stranger.startedAt, 10) - 1}` };
  expect(isAlive(ours)).toBe(false);
  await stopProcess(ours, 'SIGKILL', 1000);
  expect(isAlive(stranger)).toBe(true);
});

it('a process that ends on its signal is left its time to do so', async () => {
  const server = await start(
    'trap "sleep 0.3; echo bye; exit" TERM; echo ready; while :; do sleep 0.05; done',
  );
  await waitUntil(() => readFileSync(logPath, 'utf8').includes('ready'), 5000);
  await stopProcess(server, 'SIGTERM', 10_000);
  expect(isAlive(server)).toBe(false);
  expect(readFileSync(logPath, 'utf8')).toContain('bye');
});

it('a process that ignores its signal is killed with its whole group', async () => {
  const childPid = join(directory, 'child');
  const server = await start(`trap "" TERM; sleep 60 & echo $! > ${childPid}; wait; sleep 60`);
  await waitUntil(() => (statSync(childPid, { throwIfNoEntry: false })?.size ?? 0) > 0, 5000);
  const child = identifyProcess(Number(readFileSync(childPid, 'utf8')));
  expect(child).toBeDefined();
  await stopProcess(server, 'SIGTERM', 300);
  expect(isAlive(server)).toBe(false);
  expect(await waitUntil(() => child !== undefined && !isAlive(child), 2000)).toBe(true);
});

it('a record is read back whole, and one that a crash cut short counts as none', () => {
  const path = join(directory, 'record.json');
  const record = { pid: 12, startedAt: '34', port: 56 };
  writeServerRecord(path, record);
  expect(readServerRecord(path)).toEqual(record);
  writeFileSync(path, '{"pid": 12, "star');
  expect(readServerRecord(path)).toBeUndefined();
  expect(readServerRecord(join(directory, 'absent'))).toBeUndefined();
});

it('a log over its limit starts anew and the old one is kept once', async () => {
  writeFileSync(logPath, 'x'.repeat(10 * 1024 * 1024 + 1));
  await start('echo new; sleep 60');
  await waitUntil(() => readFileSync(logPath, 'utf8') === 'new\n', 5000);
  expect(readFileSync(logPath, 'utf8')).toBe('new\n');
  expect(statSync(`${logPath}.old`).size).toBe(10 * 1024 * 1024 + 1);
});

it('a missing program is an error, not a record', async () => {
  await expect(startDetached({ command: join(directory, 'absent'), args: [], logPath })).rejects.toThrow(
    'ENOENT',
  );
});

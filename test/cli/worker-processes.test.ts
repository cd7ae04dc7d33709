import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { startWorkerProcesses } from '../../cli/worker-processes.ts';
import { identifyProcess } from '../../infra/processes.ts';
import type { Stack } from '../../infra/stack.ts';
import { settingsForHome } from '../support/settings.ts';

const projectDirectory = mkdtempSync(join(tmpdir(), 'clift-workers-'));
afterAll(() => rmSync(projectDirectory, { recursive: true }));

/** Leaves a file for each process; the one for `cpu` has a fault at its start. */
const WORKER = `
import { writeFileSync } from 'node:fs';
writeFileSync(import.meta.dirname + '/started-' + process.pid, '');
if (process.argv.includes('cpu')) throw new Error('a module is missing');
process.send('ready');
setInterval(() => {}, 1_000);`;

test('a worker that cannot start ends the command with its last words, and nobody is started again', async () => {
  const workers = join(projectDirectory, 'workers');
  mkdirSync(workers);
  writeFileSync(join(workers, 'worker.ts'), WORKER);
  const settings = { ...settingsForHome(join(projectDirectory, 'home')), projectDirectory };
  const stack: Stack = {
    ...{ temporalAddress: '127.0.0.1:1', temporalConnection: { address: '127.0.0.1:1' }, namespace: 'clift' },
    ...{ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', blobDirectory: settings.blobDirectory },
    ...{ home: settings.home, startedByUs: { temporal: false, postgres: false } },
    stop: async () => undefined,
  };
  const start = startWorkerProcesses({ settings, stack, chromiumPath: null }, [['browser'], ['cpu']]);
  await expect(start).rejects.toThrow(/the worker for cpu ended at start.*a module is missing/s);
  const pidsOf = () => readdirSync(workers).flatMap((name) => /started-(\d+)/.exec(name)?.[1] ?? []);
  const started = pidsOf();
  expect(started.length).toBeGreaterThan(0);
  await sleep(1_500);
  expect(pidsOf()).toEqual(started);
  expect(started.map(Number).filter((pid) => identifyProcess(pid) !== undefined)).toEqual([]);
  expect(existsSync(join(projectDirectory, 'home', 'logs'))).toBe(true);
});

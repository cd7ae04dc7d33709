import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { withLock } from '../../infra/lock.ts';
import { firstOutput } from '../support/children.ts';

const directory = mkdtempSync(join(tmpdir(), 'clift-lock-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A process that takes the lock, says so and keeps it until it is killed. */
async function startHolder(path: string) {
  const module = new URL('../../infra/lock.ts', import.meta.url).href;
  const script = `
    const { withLock } = await import(${JSON.stringify(module)});
    await withLock(${JSON.stringify(path)}, 1000, async () => {
      console.log('held');
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await firstOutput(holder);
  return holder;
}

it('two holders in one process take turns', async () => {
  const path = join(directory, 'turns');
  const events: string[] = [];
  const hold = (name: string) =>
    withLock(path, 5000, async () => {
      events.push(`${name} in`);
      await sleep(60);
      events.push(`${name} out`);
    });
  await Promise.all([hold('a'), hold('b')]);
  expect(events).toEqual(['a in', 'a out', 'b in', 'b out']);
});

it('a lock held by a living process is waited for and then refused, and one whose holder was killed is free at once', async () => {
  const path = join(directory, 'killed');
  const holder = await startHolder(path);
  await expect(withLock(path, 200, async () => 'in')).rejects.toThrow('Another clift process');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(await withLock(path, 200, async () => 'in')).toBe('in');
});

it('an action that throws leaves the lock', async () => {
  const path = join(directory, 'thrown');
  await expect(withLock(path, 0, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(path, 0, async () => 'in')).toBe('in');
});

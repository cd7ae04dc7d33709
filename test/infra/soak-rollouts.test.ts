import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Belongings, leftBehind } from '../../infra/bench/soak/belongings.ts';

const house = join(import.meta.dirname, '../..');

it('twenty rollouts leave no process, port or folder behind, and no memory that grows', async () => {
  const program = ['--expose-gc', 'infra/bench/soak-rollouts.ts', '20'];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: house });
  expect(stdout).toContain('20 rollouts left nothing behind');
  // There was something to leave behind.
  expect(stdout).toMatch(/^50 % +[2-9] +0 +1 /m);
});

it('what is left behind is named', () => {
  const start: Belongings = { processes: 1, ports: 0, folders: 2, nodeMiB: 40, treeMiB: 100 };
  const busy = { ...start, processes: 7, treeMiB: 300 };
  expect(leftBehind([start, busy, busy, start])).toEqual([]);
  expect(leftBehind([start, busy, { ...busy, nodeMiB: 90 }, { ...start, processes: 2, folders: 5 }])).toEqual(
    [
      '1 more processes than at the start',
      '3 more folders than at the start',
      'the heap grew from 40 to 90 MiB',
    ],
  );
});

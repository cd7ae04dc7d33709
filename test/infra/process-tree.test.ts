import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { watchCpu } from '../../infra/bench/process-tree.ts';
import { firstOutput } from '../support/children.ts';

it.runIf(existsSync('/proc/self'))(
  'the CPU time of a killed group counts, although nobody of the tree waits for its grandchildren',
  async () => {
    const cpuUsed = watchCpu(process.pid);
    const burn = `while (process.cpuUsage().user < 5e5); console.log('burnt'); setInterval(() => {}, 1000);`;
    const shell = spawn('/bin/sh', ['-c', '"$0" -e "$1" & wait', process.execPath, burn], {
      ...{ stdio: ['ignore', 'pipe', 'inherit'], detached: true },
    });
    await firstOutput(shell);
    // It is looked at a few times a second.
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(-(shell.pid ?? Number.NaN), 'SIGKILL');
    await once(shell, 'exit');
    expect(cpuUsed()).toBeGreaterThan(0.45);
  },
);

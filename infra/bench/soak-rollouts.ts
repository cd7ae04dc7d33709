/**
 * `npm run soak:rollouts`: 500 rollouts one after another, each with its environment and its browser context, leave no
 * process, port or temporary folder behind and no memory that grows. `-- 50` plays fewer. Exits with 1 when they do.
 */

import { createSandboxBenchmark } from '../../benchmarks/sandbox/index.ts';
import { playRollout } from '../../cli/rollout/play.ts';
import { withPool } from '../../cli/rollout/with-pool.ts';
import { loadSettings } from '../../workers/settings.ts';
import { describeMachine } from './machine.ts';
import { type Belongings, belongings, leftBehind } from './soak/belongings.ts';

const rollouts = Number(process.argv[2] ?? 500);
const benchmark = createSandboxBenchmark();
const say = (line: string) => process.stderr.write(`${line}\n`);

async function play(settings = loadSettings()): Promise<readonly Belongings[]> {
  const profiles = new Set<string>();
  const look = () => belongings(process.pid, profiles);
  const seen = [look()];
  await withPool(settings, say, async (pool) => {
    for (let index = 0; index < rollouts; index += 1) {
      const task = benchmark.tasks[index % benchmark.tasks.length];
      if (task === undefined) throw new Error('the sandbox has no task');
      const agent = benchmark.oracleAction.bind(benchmark, task);
      const { signal } = new AbortController();
      await playRollout({ pool, benchmark, task, agent, signal });
      if ((index + 1) % Math.ceil(rollouts / 10) === 0) seen.push(look());
    }
  });
  return [...seen, look()];
}

const seen = await play();
console.log(`machine: ${describeMachine()}`);
console.log('after     processes  ports  folders  node MiB  all MiB');
seen.forEach(({ processes, ports, folders, nodeMiB, treeMiB }, index) => {
  const after = index === 0 ? 'start' : index === seen.length - 1 ? 'close' : `${index * 10} %`;
  const cells = [processes, ports, folders, nodeMiB.toFixed(0), treeMiB.toFixed(0)].map((cell) => `${cell}`);
  const widths = [9, 5, 7, 8, 7];
  console.log(`${after.padEnd(8)}  ${cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}`);
});
const problems = leftBehind(seen);
console.log(problems.length === 0 ? `met     ${rollouts} rollouts left nothing behind` : '');
for (const problem of problems) console.log(`MISSED  ${problem}`);
if (problems.length > 0) process.exitCode = 1;

/**
 * `npm run make-base-policy`: makes the embedded policy's base weights from demonstrations. Somebody who knows the
 * solutions acts on the sandbox's training tasks through the real browser; W0 imitates that for a few epochs only.
 *
 * The policy is weak on purpose: it has to have something left to learn. How weak was chosen once, coarsely, among
 * 5, 10, 15, 25, 40 and 100 epochs: the smallest number at which greedy success lay between 20 % and 50 % on both
 * splits. Held-out tasks served for nothing else. Deterministic: the same sandbox gives the same file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BrowserPool } from '../../activities/browser/pool.ts';
import { openBrowserSession } from '../../activities/browser/session.ts';
import type { Environment, Task, TraceStep } from '../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../benchmarks/sandbox/index.ts';
import { embeddedShape, formatBasePolicy } from '../../models/embedded/base-policy.ts';
import { type Demonstration, fitBaseWeights } from '../../models/embedded/imitation.ts';
import { readRequest } from '../../models/embedded/policy.ts';
import { loadSettings } from '../../workers/settings.ts';
import { ensureChromium } from '../chromium.ts';
import * as processes from '../processes.ts';

const imitation = { epochs: 10, learningRate: 0.3, weightDecay: 0.001, sharpness: 3 } as const;

const say = (line: string) => process.stderr.write(`${line}\n`);

const settings = loadSettings();
const sandbox = createSandboxBenchmark();
const pool = new BrowserPool({
  executablePath: (await ensureChromium(settings, say)).executablePath,
  leaseDirectory: join(settings.home, 'leases'),
  processes,
});
await pool.start();
try {
  const tasks = sandbox.tasks.filter(({ split }) => split === 'train').toSorted(byId);
  const demonstrations: Demonstration[] = [];
  for (const [index, task] of tasks.entries()) {
    demonstrations.push(...(await demonstrate(task)));
    say(`${index + 1}/${tasks.length} ${task.id}: ${demonstrations.length} decisions so far`);
  }
  const weights = fitBaseWeights(demonstrations, embeddedShape, imitation);
  const file = new URL('../../models/embedded/base-policy.json', import.meta.url);
  writeFileSync(file, formatBasePolicy(weights));
  say(`wrote ${file.pathname}`);
} finally {
  await pool.close();
}

function byId(a: Task, b: Task): number {
  return a.id < b.id ? -1 : 1;
}

/** The decisions of one solved task. Throws when the demonstration fails: then the sandbox is broken. */
async function demonstrate(task: Task): Promise<Demonstration[]> {
  const { signal } = new AbortController();
  const environment = await sandbox.open(task, signal);
  const session = await openBrowserSession({ pool, environment, task, clock: sandbox.clock, signal });
  try {
    const shown: Demonstration[] = [];
    const history: TraceStep[] = [];
    let observation = await session.observe();
    for (;;) {
      const action = sandbox.oracleAction(task, observation, history);
      const { candidates, features } = readRequest({ task, observation, history });
      const chosen = candidates.findIndex((candidate) => isDeepStrictEqual(candidate.action, action));
      if (chosen < 0) throw new Error(`${task.id}: ${JSON.stringify(action)} is no candidate`);
      shown.push({ features, chosen });
      if (action.tool === 'stop') {
        await confirmSolved(task, environment, { finalUrl: session.url(), answer: action.answer });
        return shown;
      }
      const ref = 'ref' in action ? action.ref : null;
      const target = observation.elements.find((element) => element.ref === ref) ?? null;
      const urlBefore = observation.url;
      const result = await session.act(action);
      observation = await session.observe();
      history.push({ index: history.length, urlBefore, urlAfter: observation.url, action, target, result });
    }
  } finally {
    await session.close();
    await environment.close();
  }
}

async function confirmSolved(
  task: Task,
  environment: Environment,
  final: { readonly finalUrl: string; readonly answer: string | null },
): Promise<void> {
  const evidence = await environment.captureEvidence({ ...final, infeasible: false });
  const verdict = await sandbox.grade(task, evidence);
  if (verdict.kind !== 'success') throw new Error(`${task.id}: the demonstration failed: ${verdict.message}`);
}

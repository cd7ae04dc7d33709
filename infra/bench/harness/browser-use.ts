/** The same walk with browser-use and with our harness, a model of no latency on the wire of both. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { playRollout } from '../../../cli/rollout/play.ts';
import { createProviderPolicies } from '../../../models/providers/index.ts';
import { endpointFor } from '../../../workers/endpoints.ts';
import { childEnvironment, type Settings } from '../../../workers/settings.ts';
import type { Report } from '../../report.ts';
import type { Place } from './sides.ts';
import type { Walk } from './walk.ts';
import { browserUseDialect, ourDialect, startWalkModel } from './walk-model.ts';

const VERSION = '0.13';
const INSTALL_LIMIT_MS = 900_000;
const WALK_LIMIT_MS = 300_000;
const { signal } = new AbortController();
const run = promisify(execFile);

/** The Python that has browser-use, installed into the cache; a sentence where that cannot be done. */
export async function ensureBrowserUse(settings: Settings, report: Report): Promise<string | Error> {
  const place = join(settings.cacheDirectory, `browser-use-${VERSION}`);
  const python = join(place, 'bin', 'python');
  try {
    if (!existsSync(join(place, 'ready'))) {
      report(`Installing browser-use ${VERSION} from PyPI …`);
      await run('python3', ['-m', 'venv', '--clear', place]);
      const pip = ['-m', 'pip', 'install', '--quiet', `browser-use==${VERSION}.*`];
      await run(python, pip, { timeout: INSTALL_LIMIT_MS });
      mkdirSync(join(place, 'ready'));
    }
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error);
    return new Error(`browser-use ${VERSION} cannot be installed here: ${reason}`);
  }
}

/** Names of the links that a walk clicks, several times over. */
export function linksOf({ steps }: Walk, rounds: number): readonly string[] {
  const names = steps.flatMap(({ tool, role, name }) => (tool === 'click' && role === 'link' ? name : []));
  return Array.from({ length: rounds }, () => names).flat();
}

/** Seconds of each step of browser-use, from one reply of the model to the next. */
export async function walkWithBrowserUse(
  python: string,
  settings: Settings,
  { benchmark }: Place,
  { task }: Walk,
  names: readonly string[],
  chromium: string,
): Promise<readonly number[]> {
  const environment = await benchmark.open(task, signal);
  const model = await startWalkModel(names, browserUseDialect);
  try {
    const { widthPx: width, heightPx: height } = task.viewport;
    const place = {
      ...{ modelUrl: model.baseUrl, chromium, startUrl: task.startUrl, proxy: environment.proxyServer },
      ...{ viewport: { width, height }, steps: names.length },
    };
    const script = join(import.meta.dirname, 'browser_use_walk.py');
    const { stdout } = await run(python, [script, JSON.stringify(place)], {
      timeout: WALK_LIMIT_MS,
      maxBuffer: 2 ** 26,
      env: childEnvironment({
        ...{ ANONYMIZED_TELEMETRY: 'false', BROWSER_USE_CLOUD_SYNC: 'false' },
        ...{
          BROWSER_USE_LOGGING_LEVEL: 'result',
          BROWSER_USE_CONFIG_DIR: join(settings.home, 'browser-use'),
        },
      }),
    });
    return z.array(z.number()).parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
  } finally {
    model.close();
    await environment.close();
  }
}

/** Seconds of each step of ours, screenshot included, from one reply of the model to the next. */
export async function walkWithOurs(
  settings: Settings,
  { pool, benchmark }: Place,
  { task }: Walk,
  names: readonly string[],
): Promise<readonly number[]> {
  const model = await startWalkModel(names, ourDialect);
  const capabilities = { tokenIds: false, logProbs: 'never' } as const;
  const choice = { provider: 'openai', model: 'walk', baseUrl: model.baseUrl, capabilities } as const;
  const gate = { enter: async () => ({ leave: async () => undefined }) };
  const endpoint = endpointFor(choice, settings, { providerGate: () => gate });
  const policy = await createProviderPolicies(endpoint).open(null);
  const stamps: number[] = [];
  try {
    await playRollout({
      ...{ pool, benchmark, signal, task: { ...task, maxSteps: names.length } },
      agent: async (observation, history) => {
        const asked = { task, history, observation, temperature: 0, seed: [0, history.length] };
        const { action } = await policy.decide(asked, signal);
        stamps.push(performance.now());
        return action;
      },
      onStep: async (_, session) => void (await session.screenshot()),
    });
  } finally {
    model.close();
  }
  return stamps.slice(1).map((stamp, index) => (stamp - (stamps[index] ?? stamp)) / 1000);
}

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureChromium } from '../infra/chromium.ts';
import { identifyProcess } from '../infra/processes.ts';
import { startStack, stopStack } from '../infra/stack.ts';
import { settingsForHome } from './support/settings.ts';

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddress: string;
    namespace: string;
    /** Of a user who may create databases. Tests do not write to it: see support/database.ts. */
    databaseUrl: string;
    chromiumPath: string;
  }
}

/** Homes of test runs; the name of each tells which process made it. */
const HOMES = join(tmpdir(), `clift-tests-${process.getuid?.() ?? 'user'}`);

/**
 * One stack for all test files, in a home of its own that is deleted afterwards. What cannot start makes
 * the run fail: a test that needs a real server is never skipped for want of one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeAbandonedHomes();
  const home = join(HOMES, ownName());
  const settings = settingsForHome(home);
  mkdirSync(home, { recursive: true });
  const report = (line: string) => process.stderr.write(`${line}\n`);
  try {
    const stack = await startStack(settings, report);
    const chromium = await ensureChromium(settings, report);
    project.provide('temporalAddress', stack.temporalAddress);
    project.provide('namespace', stack.namespace);
    project.provide('databaseUrl', stack.databaseUrl);
    project.provide('chromiumPath', chromium.executablePath);
  } catch (error) {
    await removeHome(home);
    throw error;
  }
  return () => removeHome(home);
}

function ownName(): string {
  const identity = identifyProcess(process.pid);
  if (!identity) throw new Error('This process cannot find itself: is /proc mounted, or `ps` installed?');
  return `${identity.pid}-${identity.startedAt.replaceAll(/\W/g, '_')}`;
}

/** A killed test run leaves its servers running. Ends them and only them. */
async function removeAbandonedHomes(): Promise<void> {
  if (!existsSync(HOMES)) return;
  for (const name of readdirSync(HOMES)) {
    const [pid = '', startedAt = ''] = name.split(/-(.*)/);
    const owner = identifyProcess(Number(pid));
    const isInUse = owner?.startedAt.replaceAll(/\W/g, '_') === startedAt;
    if (!isInUse) await removeHome(join(HOMES, name));
  }
}

async function removeHome(home: string): Promise<void> {
  await stopStack(settingsForHome(home));
  rmSync(home, { recursive: true, force: true });
}

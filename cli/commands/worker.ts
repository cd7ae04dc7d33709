import { once } from 'node:events';
import { ensureChromium } from '../../infra/chromium.ts';
import { startStack } from '../../infra/stack.ts';
import { parseRoles, type Settings } from '../../workers/settings.ts';
import { startWorkerProcesses } from '../worker-processes.ts';
import { usualRoles } from '../workplace.ts';

interface Options {
  /** Roles of one process, parted by commas; without any, all of them in the usual two processes. */
  readonly role?: string;
  /** Seconds. */
  readonly grace?: number;
}

/** Serves task queues until Ctrl-C, SIGTERM or a drain. */
export async function worker(settings: Settings, { role, grace }: Options): Promise<void> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const roles = role === undefined ? usualRoles : [parseRoles(role.split(','))];
  const told = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const [stack, chromium] = await Promise.all([
    startStack(settings, report),
    roles.flat().includes('browser') ? ensureChromium(settings, report) : null,
  ]);
  try {
    const chromiumPath = chromium?.executablePath ?? null;
    const drainGraceS = grace ?? settings.drainGraceS;
    const workers = await startWorkerProcesses(
      { settings: { ...settings, drainGraceS }, stack, chromiumPath },
      roles,
    );
    report(`serving ${roles.flat().join(', ')} at ${stack.temporalAddress}; Ctrl-C hands the work over`);
    try {
      await Promise.race([told, workers.failed]);
    } finally {
      await workers.stop();
    }
  } finally {
    await stack.stop();
  }
}

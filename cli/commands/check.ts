import { runChecks } from '../../infra/check.ts';
import type { Settings } from '../../workers/settings.ts';

/** Runs the one check command; exit status 1 when anything fails. */
export async function check({ projectDirectory }: Settings): Promise<void> {
  if (!(await runChecks(projectDirectory))) process.exitCode = 1;
}

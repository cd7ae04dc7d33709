import { summarise } from '../../infra/test-summary.ts';
import type { Settings } from '../../workers/settings.ts';

/**
 * Runs the tests whose file paths contain one of `filters` (all without). The last line is always
 * `N passed, N failed, N skipped`, with each skip's reason above it; a run of no test fails.
 */
export async function test({ projectDirectory }: Settings, filters: readonly string[]): Promise<void> {
  // A production installation has no test runner; only this verb needs it.
  const { startVitest } = await import('vitest/node');
  const vitest = await startVitest([...filters], { root: projectDirectory, watch: false });
  const { passed, failed, skipped } = summarise(
    vitest.state.getTestModules(),
    vitest.state.getUnhandledErrors(),
  );
  if (failed > 0 || passed === 0) process.exitCode = 1;
  for (const line of skipped) console.log(line);
  console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
}

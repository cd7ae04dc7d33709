import type { TestCase, TestModule } from 'vitest/node';

export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  /** One line per skipped test: its name and its reason. */
  readonly skipped: readonly string[];
}

/**
 * Counts every test once. A file that could not be loaded, a suite whose setup failed and an error outside
 * any test each count as one failure, so that "0 failed" means that nothing failed.
 */
export function summarise(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): TestSummary {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const withState = (state: string) => tests.filter((test) => test.result().state === state);
  return {
    passed: withState('passed').length,
    // A test still pending when the run is over did not get to run.
    failed:
      withState('failed').length +
      withState('pending').length +
      modules.filter(failedOutsideItsTests).length +
      unhandledErrors.length,
    skipped: withState('skipped').map(describeSkip),
  };
}

function failedOutsideItsTests(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}

function describeSkip(test: TestCase): string {
  const result = test.result();
  const reason = result.state === 'skipped' && result.note ? result.note : 'no reason given';
  return `skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${reason}`;
}

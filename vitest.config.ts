import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Worker tests load the native Temporal bridge, which is only safe in a process of its own.
    pool: 'forks',
    maxWorkers: 2,
    // Far off: a limit is for what hangs, and a busy machine is slow.
    testTimeout: 240_000,
    hookTimeout: 400_000,
  },
});

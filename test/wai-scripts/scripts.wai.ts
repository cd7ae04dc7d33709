import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playRollout } from '../../cli/rollout/play.ts';
import { nextScriptAction, readScript, type Script } from '../../cli/rollout/script.ts';
import { benchmarkNamed } from '../../workers/parts.ts';
import { createTestPool, type TestPool } from '../activities/browser/support.ts';

const benchmark = benchmarkNamed('wai');
const scripts = globSync('*/*.yaml', { cwd: import.meta.dirname })
  .toSorted()
  .map((file): [string, Script] => [file, readScript(join(import.meta.dirname, file))]);

let browsers: TestPool;
beforeAll(async () => {
  browsers = await createTestPool(1_000);
});
afterAll(() => browsers.close());

function taskOf({ task: id }: Script) {
  const task = benchmark.tasks.find((candidate) => candidate.id === id);
  if (task === undefined) throw new Error(`WebArena-Infinity has no task ${id}.`);
  return task;
}

describe('a script through the tool calls of the harness', () => {
  test.for(scripts)('%s solves its task, which fails untouched', async ([, script]) => {
    const { untouched, graded, problem, flags } = await playRollout({
      ...{ pool: browsers.pool, benchmark, task: taskOf(script), signal: new AbortController().signal },
      agent: (observation, history) => nextScriptAction(script, observation, history),
    });
    expect(problem).toBeNull();
    expect(untouched.outcome).toEqual({ kind: 'failure' });
    expect(graded.outcome, graded.message).toEqual({ kind: 'success' });
    expect(flags.filter(({ invalidates }) => invalidates)).toEqual([]);
  });
});

test('the scripts cover every official app and every difficulty', () => {
  const tasks = scripts.map(([, script]) => taskOf(script));
  const official = benchmark.tasks.filter(({ suites }) => suites?.includes('official'));
  expect(new Set(tasks.map(({ app }) => app))).toEqual(new Set(official.map(({ app }) => app)));
  expect(new Set(tasks.map(({ difficulty }) => difficulty))).toEqual(new Set(['easy', 'medium', 'hard']));
  expect(tasks.length).toBeGreaterThanOrEqual(45);
});

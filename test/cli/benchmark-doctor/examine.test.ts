import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Benchmark } from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { Grader } from '../../../benchmarks/wai/grader.ts';
import { diagnose, isAsKnown } from '../../../cli/benchmark-doctor/diagnose.ts';
import { examineTasks } from '../../../cli/benchmark-doctor/examine.ts';
import { renderDiagnosis } from '../../../cli/commands/benchmark.ts';
import { plainPaint } from '../../../cli/report/terminal-text.ts';
import { createTestPool, type TestPool } from '../../activities/browser/support.ts';
import { createFixture, taskNamed } from '../../benchmarks/wai/support.ts';

let browsers: TestPool;
const grader = new Grader(5_000);
beforeAll(async () => {
  browsers = await createTestPool();
});
afterAll(async () => {
  grader.close();
  await browsers.close();
});

const examine = (benchmark: Benchmark, names: (id: string) => boolean) =>
  examineTasks({
    benchmark,
    tasks: benchmark.tasks.filter(({ id }) => names(id)),
    pool: browsers.pool,
    signal: new AbortController().signal,
  });

test('the doctor finds what is wrong with tasks, and only that', async () => {
  const endless = 'wai/notes/real-h2';
  const diagnosis = diagnose(await examine(createFixture(grader), (id) => id !== endless));
  const found = diagnosis.findings.map(({ taskId, symptom }) => `${taskId.split('/').at(-1)} ${symptom}`);
  expect(found).toEqual([
    'real-e2 vacuous',
    'real-h1 ungraded',
    'real-h1 unsolved',
    'real-h3 ungraded',
    'real-h3 unsolved',
    'function-2 unsolved',
  ]);
  expect(isAsKnown(diagnosis)).toBe(false);
  const text = renderDiagnosis(diagnosis, plainPaint).join('\n');
  expect(text).toMatch(/wai\/notes\/real-e2 +vacuous +NEW +looked at the stamps/);
  expect(text).toContain('7 tasks, untouched and solved: 1 vacuous, 2 ungraded, 3 unsolved; 6 new');
});

test('an app whose pages do not begin alike is flaky, whatever its verifier says of each', async () => {
  const benchmark = createFixture(grader);
  let loads = 0;
  const examined = await examine(
    {
      ...benchmark,
      open: async (task, signal) => {
        const environment = await benchmark.open(task, signal);
        loads += 1;
        const starred = loads % 2 === 0;
        const state = { notes: [{ text: 'Call the bank', starred }] };
        return {
          ...environment,
          captureEvidence: async (final) => ({ ...(await environment.captureEvidence(final)), state }),
        };
      },
    },
    (id) => id === 'wai/notes/real-e1',
  );
  expect(diagnose(examined).findings.map(({ symptom }) => symptom)).toEqual(['vacuous', 'flaky']);
});

test('tasks that are played by an agent who knows the solution are sound on the sandbox', async () => {
  const sandbox = createSandboxBenchmark();
  const [first, second] = sandbox.tasks.filter(({ difficulty }) => difficulty === 'easy');
  const examined = await examine(sandbox, (id) => id === first?.id || id === second?.id);
  expect(examined).toHaveLength(2);
  expect(diagnose(examined)).toEqual({ tasks: 2, findings: [], notFound: [] });
});

test('where nobody knows the solutions the doctor says so', async () => {
  const { oracle: _, ...benchmark } = createFixture(grader);
  await expect(examine(benchmark, () => true)).rejects.toThrow('wai has no oracle');
});

describe('what a task’s caveats say', () => {
  const task = taskNamed(createFixture(grader), 'real-e1');
  const vacuous = { kind: 'vacuous', reason: 'It passes.' } as const;
  const verdict = (kind: 'success' | 'failure') => ({ outcome: { kind }, message: kind });

  test('is known, and nothing to worry about', () => {
    const diagnosis = diagnose([
      {
        task: { ...task, caveats: [vacuous, { kind: 'impossible', reason: 'No mouse can.' }] },
        untouched: [verdict('success')],
        solved: [verdict('success')],
      },
    ]);
    expect(diagnosis.findings).toMatchObject([{ symptom: 'vacuous', isKnown: true }]);
    expect(isAsKnown(diagnosis)).toBe(true);
  });

  test('and is not found is a difference', () => {
    const diagnosis = diagnose([
      {
        task: { ...task, caveats: [vacuous] },
        untouched: [verdict('failure')],
        solved: [verdict('success')],
      },
    ]);
    expect(diagnosis).toMatchObject({ findings: [], notFound: [{ taskId: task.id, symptom: 'vacuous' }] });
    expect(isAsKnown(diagnosis)).toBe(false);
    expect(renderDiagnosis(diagnosis, plainPaint).at(-1)).toContain('1 known ones not found');
  });
});

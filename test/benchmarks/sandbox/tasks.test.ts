import { describe, expect, test } from 'vitest';
import type { Task } from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { taskTerms } from '../../../workflows/method/task-terms.ts';

const benchmark = createSandboxBenchmark();
const APPS = ['mail', 'shop', 'tracker'];
const ofApp = (app: string): Task[] => benchmark.tasks.filter((task) => task.app === app);
const templatesOf = (tasks: readonly Task[]): Set<string> =>
  new Set(tasks.map((task) => task.provenance.ref));

describe.each(APPS)('%s', (app) => {
  const tasks = ofApp(app);
  const train = tasks.filter((task) => task.split === 'train');
  const heldout = tasks.filter((task) => task.split === 'heldout');

  test('has at least 30 tasks from at least 8 templates, in three difficulties', () => {
    expect(tasks.length).toBeGreaterThanOrEqual(30);
    expect(templatesOf(tasks).size).toBeGreaterThanOrEqual(8);
    expect(new Set(tasks.map((task) => task.difficulty))).toEqual(new Set(['easy', 'medium', 'hard']));
    expect(tasks.some((task) => task.expectsAnswer)).toBe(true);
  });

  test('is split about in half, with new terms for known templates and a template of its own', () => {
    expect(Math.abs(train.length - heldout.length)).toBeLessThanOrEqual(4);
    expect(templatesOf(train).difference(templatesOf(heldout)).size).toBe(0);
    expect(templatesOf(heldout).difference(templatesOf(train)).size).toBeGreaterThanOrEqual(1);
    const instructions = new Set(train.map((task) => task.instruction));
    expect(heldout.filter((task) => instructions.has(task.instruction))).toEqual([]);
  });
});

test('ids and instructions are unique, and instructions name their terms', () => {
  expect(new Set(benchmark.tasks.map((task) => task.id)).size).toBe(benchmark.tasks.length);
  expect(new Set(benchmark.tasks.map((task) => task.instruction)).size).toBe(benchmark.tasks.length);
  for (const task of benchmark.tasks) expect(taskTerms(task.instruction), task.id).not.toEqual([]);
});

test('budgets are at most 20 steps, and a benchmark made again is the same', () => {
  for (const task of benchmark.tasks) expect(task.maxSteps, task.id).toBeLessThanOrEqual(20);
  const again = createSandboxBenchmark();
  expect(again.tasks).toEqual(benchmark.tasks);
  expect(again.revision).toBe(benchmark.revision);
});

test('positive subgoals of a task weigh 1 together, and an empty trace reaches none', () => {
  for (const task of benchmark.tasks) {
    const rubric = benchmark.rubric(task.id);
    const positive = rubric.filter(({ weight }) => weight > 0);
    expect(
      positive.reduce((sum, { weight }) => sum + weight, 0),
      task.id,
    ).toBeCloseTo(1, 9);
    expect(new Set(rubric.map(({ id }) => id)).size, task.id).toBe(rubric.length);
    expect(
      rubric.filter((subgoal) => subgoal.reachedAt([], null) !== null),
      task.id,
    ).toEqual([]);
  }
});

test('every task fails on the untouched application, whatever common answer is given', async () => {
  for (const task of benchmark.tasks) {
    const environment = await benchmark.open(task, new AbortController().signal);
    for (const answer of [null, '', '0', 'done', 'Open', task.instruction]) {
      const final = { finalUrl: task.startUrl, answer, infeasible: false };
      const verdict = await benchmark.grade(task, await environment.captureEvidence(final));
      expect(verdict.kind, `${task.id} with ${answer}`).toBe('failure');
    }
    await environment.close();
  }
});

test('a missing or foreign state is insufficient evidence, not a failure', async () => {
  const [task] = ofApp('mail');
  if (task === undefined) throw new Error('mail has no tasks');
  const evidence = { taskId: task.id, finalUrl: task.startUrl, answer: null, infeasible: false };
  for (const state of [null, {}, { data: {}, ui: {} }, 'text']) {
    expect((await benchmark.grade(task, { ...evidence, state })).kind).toBe('insufficient_evidence');
  }
});

test('a task of another benchmark is refused by name', () => {
  expect(() => benchmark.rubric('wai/gmail/1')).toThrow('the sandbox has no task wai/gmail/1');
});

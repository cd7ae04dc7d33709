import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { taskSchema } from '../../../benchmarks/schemas.ts';
import { ablations, edition } from '../../../benchmarks/wai/edition.ts';
import { caveats } from '../../../benchmarks/wai/exclusions.ts';
import { createWaiBenchmark } from '../../../benchmarks/wai/index.ts';
import { createFixture, fixtureEdition, fixtureRoot, taskNamed } from './support.ts';

describe('a checkout', () => {
  const benchmark = createFixture();

  test('gives its tasks, with ids that are unique over apps and suites', () => {
    expect(benchmark.tasks.map(({ id, difficulty, suites }) => [id, difficulty, suites])).toEqual([
      ['wai/notes/real-e1', 'easy', ['real', 'small']],
      ['wai/notes/real-e2', 'easy', ['real', 'small']],
      ['wai/notes/real-m1', 'medium', ['real', 'small']],
      ['wai/notes/real-h1', 'hard', ['real', 'small']],
      ['wai/notes/real-h2', 'hard', ['real', 'small']],
      ['wai/notes/real-h3', 'hard', ['real', 'small']],
      ['wai/notes/function-1', 'unrated', ['function']],
      ['wai/notes/function-2', 'unrated', ['function']],
    ]);
  });

  test('gives tasks for evaluation only, at a canonical address, that can be stored', () => {
    for (const task of benchmark.tasks) {
      expect(taskSchema.parse(task)).toEqual(task);
      expect(task).toMatchObject({ split: 'heldout', startUrl: 'http://notes.wai/' });
      expect(task.allowedHosts).toEqual(['notes.wai']);
    }
  });

  test('tells nothing of where it lies', () => {
    expect(JSON.stringify(benchmark.tasks)).not.toContain(fixtureRoot);
    expect(taskNamed(benchmark, 'real-e1').instruction).toBe('Star the note "Call the bank".');
  });
});

describe('a checkout is refused', () => {
  let copy = '';
  afterEach(() => rmSync(copy, { recursive: true, force: true }));
  const changed = (file: string): string => {
    copy = mkdtempSync(join(tmpdir(), 'clift-wai-'));
    cpSync(fixtureRoot, copy, { recursive: true });
    appendFileSync(join(copy, 'apps/notes', file), '\n');
    return copy;
  };
  const open = (root: string | undefined, difference = {}) =>
    createWaiBenchmark({ root, edition: { ...fixtureEdition, ...difference } });

  test('when there is none, with what to set', () => {
    expect(() => open(undefined)).toThrow(/commit 0123.*CLIFT_WAI_ROOT.*benchmarks\.wai\.root/);
  });

  test('when the directory is another one', () => {
    expect(() => open(tmpdir())).toThrow(/no checkout of WebArena-Infinity: it has no app notes/);
  });

  test.each([
    'index.html',
    'js/state.js',
    'css/styles.css',
    'real-tasks.json',
    'function-tasks.json',
    'real-tasks/task_e1.py',
    'function-tasks/task_2.py',
    'sanity_check.py',
  ])('when its %s is not the edition’s', (file) => {
    expect(() => open(changed(file))).toThrow(/not WebArena-Infinity at commit 0123.*notes differ/);
  });

  test('when it has another number of tasks than the reference says', () => {
    const notes = { ...fixtureEdition.apps['notes'], hard: 4 };
    expect(() => open(fixtureRoot, { apps: { notes } })).toThrow('notes has 3 hard tasks');
  });
});

describe('the known edition', () => {
  const total = (names: readonly string[], kinds: readonly ('easy' | 'medium' | 'hard' | 'function')[]) =>
    names.reduce((sum, name) => {
      const app = edition.apps[name];
      return sum + kinds.reduce((count, kind) => count + (app?.[kind] ?? Number.NaN), 0);
    }, 0);
  const real = ['easy', 'medium', 'hard'] as const;
  const all = Object.keys(edition.apps);

  test('has the reference’s 1,620 real and 737 function tasks in 13 apps', () => {
    expect(all).toHaveLength(13);
    expect([total(all, ['easy']), total(all, ['medium']), total(all, ['hard'])]).toEqual([260, 260, 1100]);
    expect(total(all, ['function'])).toBe(737);
  });

  test('has 1,260 real tasks in the ten official apps and 1,200 in the nine', () => {
    expect(edition.appSets['official']).toHaveLength(10);
    expect(total(edition.appSets['official'] ?? [], real)).toBe(1260);
    expect(edition.appSets['nine']).toHaveLength(9);
    expect(total(edition.appSets['nine'] ?? [], real)).toBe(1200);
  });

  test('brings 3,310 outcome verifiers with its ablations', () => {
    const kinds = [...real, 'function'] as const;
    const ofAblations = Object.values(ablations.apps).flatMap((app) => kinds.map((kind) => app[kind]));
    expect(total(all, kinds) + ofAblations.reduce((sum, each) => sum + each, 0)).toBe(3310);
  });

  test('has 14 vacuous tasks, 21 that no mouse can do and one that its own solution does not solve', () => {
    const kinds = Object.values(caveats).flat();
    const count = (kind: string) => kinds.filter((caveat) => caveat.kind === kind).length;
    expect([count('vacuous'), count('impossible'), count('unsolved')]).toEqual([14, 21, 1]);
  });
});

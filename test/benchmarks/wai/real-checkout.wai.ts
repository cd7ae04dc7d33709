import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowserSession } from '../../../activities/browser/session.ts';
import type { Task } from '../../../benchmarks/contract.ts';
import { diagnose, isAsKnown } from '../../../cli/benchmark-doctor/diagnose.ts';
import { examineTasks } from '../../../cli/benchmark-doctor/examine.ts';
import { benchmarkNamed } from '../../../workers/parts.ts';
import { loadSettings } from '../../../workers/settings.ts';
import { createTestPool, type TestPool } from '../../activities/browser/support.ts';
import { send } from './support.ts';

const { waiRoot = '' } = loadSettings();
const benchmark = benchmarkNamed('wai');
const apps = [...Map.groupBy(benchmark.tasks, ({ app }) => app)].map(
  ([app, [first]]): [string, Task | undefined] => [app, first],
);
const { signal } = new AbortController();

let browsers: TestPool;
beforeAll(async () => {
  browsers = await createTestPool();
});
afterAll(() => browsers.close());

async function withPage<T>(
  task: Task | undefined,
  use: (place: Awaited<ReturnType<typeof open>>) => Promise<T>,
) {
  if (task === undefined) throw new Error('The app has no task.');
  const place = await open(task);
  try {
    return await use(place);
  } finally {
    await place.session.close();
    await place.environment.close();
  }
}

async function open(task: Task) {
  const environment = await benchmark.open(task, signal);
  const session = await openBrowserSession({
    ...{ pool: browsers.pool, environment, task, signal },
    clock: benchmark.clock,
  });
  return { environment, session };
}

test('the checkout has all tasks of the reference', () => {
  expect(apps).toHaveLength(13);
  const inSuite = (suite: string) => benchmark.tasks.filter(({ suites }) => suites?.includes(suite)).length;
  expect(['real', 'function', 'official', 'nine'].map(inSuite)).toEqual([1620, 737, 1260, 1200]);
});

describe('an app: ', () => {
  test.each(apps)('%s loads from our server, sends its state and asks for nothing forbidden', (_, task) =>
    withPage(task, async ({ environment, session }) => {
      const final = { finalUrl: session.url(), answer: null, infeasible: false };
      expect((await environment.captureEvidence(final)).state).not.toBeNull();
      expect((await session.observe()).elements.length).toBeGreaterThan(5);
      expect(environment.flags().filter(({ invalidates }) => invalidates)).toEqual([]);
    }),
  );

  test.each(apps)('%s gives away no file but those of its pages', async (app, task) => {
    if (task === undefined) throw new Error('The app has no task.');
    const files = readdirSync(join(waiRoot, 'apps', app), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('.') && !/^(?:index\.html|(?:js|css)\/)/.test(name),
    );
    expect(files.length).toBeGreaterThan(80);
    const environment = await benchmark.open(task, signal);
    for (const file of files) {
      expect(await send(environment, `GET ${task.startUrl}${file}`), file).toMatch(/^HTTP\/1.1 404/);
    }
    expect(environment.flags().every(({ rule, invalidates }) => rule === 'answer-key' && invalidates)).toBe(
      true,
    );
    await environment.close();
  });
});

test('in gmail-accounts-and-contacts no option of a dropdown can be chosen, as its caveats say', () =>
  withPage(apps.find(([app]) => app === 'gmail-accounts-and-contacts')?.[1], async (place) => {
    const { environment, session } = place;
    const before = await environment.stateDigest();
    for (const name of ['First name', 'Last name']) {
      const { elements } = await session.observe();
      // The icon's name follows, because its font is refused.
      const found = elements.findLast((element) => element.name.startsWith(name));
      if (found === undefined) throw new Error(`There is no "${name}".`);
      expect(await session.act({ tool: 'click', ref: found.ref, kind: 'single' })).toMatchObject({
        ok: true,
      });
    }
    expect((await session.observe()).elements.some(({ name }) => name.startsWith('First name'))).toBe(true);
    expect(await environment.stateDigest()).toBe(before);
  }));

test('the doctor finds exactly what the caveats of the tasks say', async () => {
  const examined = await examineTasks({ benchmark, tasks: benchmark.tasks, pool: browsers.pool, signal });
  const diagnosis = diagnose(examined);
  expect(diagnosis.tasks).toBe(2357);
  expect(diagnosis.findings.filter(({ isKnown }) => !isKnown)).toEqual([]);
  expect(isAsKnown(diagnosis)).toBe(true);
}, 900_000);

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserSession, openBrowserSession } from '../../../activities/browser/session.ts';
import type { Environment } from '../../../benchmarks/contract.ts';
import { createTestPool, named, type TestPool } from '../../activities/browser/support.ts';
import { createFixture, taskNamed } from './support.ts';

const benchmark = createFixture();
const task = taskNamed(benchmark, 'real-m1');

let browsers: TestPool;
beforeAll(async () => {
  browsers = await createTestPool();
});
afterAll(() => browsers.close());

interface Place {
  readonly environment: Environment;
  readonly session: BrowserSession;
  click(role: string, name: string): Promise<void>;
  state(): Promise<unknown>;
}

async function withPage(use: (place: Place) => Promise<void>): Promise<void> {
  const { signal } = new AbortController();
  const environment = await benchmark.open(task, signal);
  const session = await openBrowserSession({
    ...{ pool: browsers.pool, environment, task, signal },
    clock: benchmark.clock,
  });
  const click = async (role: string, name: string) => {
    const { ref } = named(await session.observe(), role, name);
    expect(await session.act({ tool: 'click', ref, kind: 'single' })).toMatchObject({ ok: true });
  };
  const state = async () => {
    const final = { finalUrl: session.url(), answer: null, infeasible: false };
    return (await environment.captureEvidence(final)).state;
  };
  try {
    await use({ environment, session, click, state });
  } finally {
    await session.close();
    await environment.close();
  }
}

const idsOf = (state: unknown): unknown[] =>
  JSON.parse(JSON.stringify(state)).notes.map((note: { id: unknown }) => note.id);

const starred = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state)).notes.map((note: { starred: boolean }) => note.starred);

const invalidating = ({ environment }: Place) =>
  environment
    .flags()
    .filter(({ invalidates }) => invalidates)
    .map(({ rule }) => rule);

test('a page loads as the app means it: frozen clock, its own inline code, fonts refused without harm', () =>
  withPage(async (place) => {
    const { text } = await place.session.observe();
    expect(text).toContain('Today is 2026-03-07T12:00:00');
    await place.click('button', 'Hide the tip');
    expect((await place.session.observe()).text).not.toContain('A tip');
    expect(place.environment.flags().map(({ rule, detail }) => [rule, detail])).toEqual([
      ['foreign-host', 'fonts.googleapis.com:443'],
    ]);
  }));

test('two lives of an app begin with equal states, random numbers included', async () => {
  const digests: string[] = [];
  for (let life = 0; life < 2; life += 1) {
    await withPage(async ({ environment }) => {
      digests.push(await environment.stateDigest());
    });
  }
  expect(digests[0]).toBe(digests[1]);
});

test('a click changes the state, and the last of three states sent at once is the final one', () =>
  withPage(async (place) => {
    expect(starred(await place.state())).toEqual([false, false, true]);
    const before = await place.environment.stateDigest();
    await place.click('button', 'Star all, one by one');
    expect(starred(await place.state())).toEqual([true, true, true]);
    expect(await place.environment.stateDigest()).not.toBe(before);
    expect(invalidating(place)).toEqual([]);
  }));

test('two things that were made at one frozen moment have two ids, the same in every life', async () => {
  const lives: unknown[] = [];
  for (let life = 0; life < 2; life += 1) {
    await withPage(async (place) => {
      await place.click('button', 'Add');
      await place.session.act({ tool: 'navigate', url: 'http://notes.wai/' });
      await place.click('button', 'Add');
      lives.push(idsOf(await place.state()));
    });
  }
  expect(lives[0]).toHaveLength(5);
  expect(new Set(lives.flat()).size).toBe(5);
});

test('code that was planted in the page through a field makes the rollout void', () =>
  withPage(async (place) => {
    const { ref } = named(await place.session.observe(), 'textbox', 'New note');
    const forged = 'fetch("/api/state",{method:"PUT",body:"{}"})';
    const text = `<img src=x onerror='${forged}'>`;
    await place.session.act({ tool: 'type', ref, text, clear: true, submit: false });
    expect(invalidating(place)).toEqual([]);
    await place.click('button', 'Add');
    await expect.poll(() => invalidating(place)).toContain('planted-script');
  }));

test('a link that leads away makes the rollout void', () =>
  withPage(async (place) => {
    await place.click('link', 'Help');
    expect(invalidating(place)).toEqual(['foreign-host']);
  }));

test('going to the answer key by address shows nothing and makes the rollout void', () =>
  withPage(async (place) => {
    const url = 'http://notes.wai/real-tasks/task_m1.py';
    await place.session.act({ tool: 'navigate', url });
    expect((await place.session.observe()).text).toContain('Not found');
    expect(invalidating(place)).toEqual(['answer-key']);
  }));

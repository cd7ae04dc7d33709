import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../benchmarks/contract.ts';
import { createFixture, type RawRequest, send, taskNamed } from './support.ts';

const benchmark = createFixture();
const task = taskNamed(benchmark, 'real-e1');
const app = 'http://notes.wai';
const asDocument = { headers: { accept: 'text/html,application/xhtml+xml' } };
const final = { finalUrl: app, answer: null, infeasible: false };

async function withEnvironment(use: (environment: Environment) => Promise<void>): Promise<void> {
  const environment = await benchmark.open(task, new AbortController().signal);
  try {
    await use(environment);
  } finally {
    await environment.close();
  }
}

const state = (number: number, value: unknown): RawRequest => ({
  headers: { 'content-type': 'application/json', 'x-clift-state': `page ${number}` },
  body: JSON.stringify({ value }),
});

describe('an app', () => {
  test('serves its page with our script before its own, its styles and its scripts', () =>
    withEnvironment(async (environment) => {
      const page = await send(environment, `GET ${app}/`, asDocument);
      expect(page).toMatch(/^HTTP\/1.1 200 [\s\S]*clift\/client\.js[\s\S]*js\/data\.js/);
      expect(await send(environment, `GET ${app}/index.html`)).toContain('<h1>Notes</h1>');
      expect(await send(environment, `GET ${app}/clift/client.js`)).toContain('Math.random');
      expect(await send(environment, `GET ${app}/js/state.js`)).toMatch(/text\/javascript[\s\S]*AppState/);
      expect(await send(environment, `GET ${app}/css/styles.css`)).toMatch(/text\/css[\s\S]*\.row/);
      expect(await send(environment, `GET ${app}/favicon.ico`)).toMatch(/^HTTP\/1.1 404/);
      expect(environment.flags()).toEqual([]);
    }));

  test('keeps the state that was sent last, and knows none before that', () =>
    withEnvironment(async (environment) => {
      expect((await environment.captureEvidence(final)).state).toBeNull();
      await send(environment, `PUT ${app}/api/state`, state(1, 'first'));
      const before = await environment.stateDigest();
      await send(environment, `PUT ${app}/api/state`, state(3, 'third'));
      await send(environment, `PUT ${app}/api/state`, state(2, 'second'));
      expect(await environment.captureEvidence(final)).toEqual({
        taskId: task.id,
        state: { value: 'third' },
        ...final,
      });
      expect(await environment.stateDigest()).not.toBe(before);
      expect(environment.flags()).toEqual([]);
    }));

  test('shares nothing with its neighbours, and starts from the same', () =>
    withEnvironment(async (environment) => {
      await send(environment, `PUT ${app}/api/state`, state(1, 'mine'));
      await withEnvironment(async (neighbour) => {
        expect((await neighbour.captureEvidence(final)).state).toBeNull();
        expect(neighbour.initialStateDigest).toBe(environment.initialStateDigest);
      });
    }));
});

describe('a guard', () => {
  const flagsOf = async (line: string, request?: RawRequest) => {
    let flags: readonly unknown[] = [];
    await withEnvironment(async (environment) => {
      const reply = await send(environment, line, request);
      expect(reply).toMatch(/^HTTP\/1.1 4/);
      expect(reply).not.toMatch(/def verify|SOLVERS|Call the bank/);
      flags = environment.flags().map(({ rule, invalidates }) => [rule, invalidates]);
    });
    return flags;
  };

  test.each([
    '/real-tasks/task_e1.py',
    '/real-tasks.json',
    '/function-tasks/',
    '/sanity_check.py',
    '/server.py',
    '/js/../real-tasks/task_e1.py',
    '/real%2Dtasks/task_e1.py',
  ])('trips when a page reaches for %s', async (path) => {
    expect(await flagsOf(`GET ${app}${path}`, asDocument)).toEqual([['answer-key', true]]);
  });

  test.each(['GET /api/state', 'POST /api/reset', 'DELETE /api/state', 'GET /api/tasks'])(
    'trips on %s, which no app asks for',
    async (request) => {
      const [method = '', path = ''] = request.split(' ');
      expect(await flagsOf(`${method} ${app}${path}`)).toEqual([['state-api', true]]);
    },
  );

  test('trips on a state that is not one of the app’s own', async () => {
    const unnumbered = { body: JSON.stringify({ value: 'forged' }) };
    expect(await flagsOf(`PUT ${app}/api/state`, unnumbered)).toEqual([['state-api', true]]);
    const broken = { headers: { 'x-clift-state': 'page 1' }, body: '{"value":' };
    expect(await flagsOf(`PUT ${app}/api/state`, broken)).toEqual([['state-api', true]]);
  });

  test('trips on another host, but not on the fonts that apps load', async () => {
    expect(await flagsOf('GET http://elsewhere.example/')).toEqual([['foreign-host', true]]);
    expect(await flagsOf('CONNECT elsewhere.example:443')).toEqual([['foreign-host', true]]);
    expect(await flagsOf('CONNECT fonts.gstatic.com:443')).toEqual([['foreign-host', false]]);
    expect(await flagsOf('GET http://fonts.googleapis.com/css')).toEqual([['foreign-host', false]]);
  });

  test.each([443, 80])('does not take port %i of the app’s own host for another host', async (port) => {
    expect(await flagsOf(`CONNECT ${new URL(app).host}:${port}`)).toEqual([['foreign-host', false]]);
  });

  test('answers a report that is none', async () => {
    const garbage = { body: 'no report' };
    expect(await flagsOf(`POST ${app}/clift/report`, garbage)).toEqual([['unknown-request', false]]);
  });

  test('notes that somebody wants to read a script, which holds the app’s data, and shows nothing', async () => {
    expect(await flagsOf(`GET ${app}/js/data.js`, asDocument)).toEqual([['source-read', false]]);
  });

  test('trips on what goes round the proxy', async () => {
    expect(await flagsOf('GET /real-tasks.json')).toEqual([['direct-access', true]]);
  });
});

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Action, ActionResult, Benchmark } from '../../../benchmarks/contract.ts';
import { createStorePlace, type Store, type StorePlace } from '../../bank-store/fixtures.ts';
import { createScene, killBrowser, type Script, task } from './scene.ts';
import {
  createTestPool,
  named,
  openPages,
  type Page,
  type Site,
  serveSite,
  type TestPool,
} from './support.ts';

let testPool: TestPool;
let place: StorePlace;
let store: Store;
beforeAll(async () => {
  testPool = await createTestPool();
  place = await createStorePlace();
  store = await place.openStore();
});
afterAll(() => testPool.close());

const click = (ref: string): Action => ({ tool: 'click', ref, kind: 'single' });

/** Does one thing on a page of a live site, and what the page is like afterwards. */
async function actOn(page: Page, act: (ref: string) => Action, pages: Readonly<Record<string, Page>> = {}) {
  await using open = await openPages({
    ...{ pages: { '/': page, ...pages }, pool: testPool.pool, pendingExpression: null },
  });
  const { ref } = named(await open.session.observe(), 'button', 'Go');
  const began = performance.now();
  const result: ActionResult = await open.session.act(act(ref));
  const after = await open.session.observe();
  return { result, after, ms: performance.now() - began };
}

const START = '<h1>Start</h1><button onclick="go()">Go</button>';
const to = (path: string) => `${START}<script>go = () => { location.href = '${path}' }</script>`;
const never: Page = () => undefined;
const bytes = (response: ServerResponse, megabytes: number) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  const paragraph = `<p>${'word '.repeat(200_000)}</p>`;
  response.end(`<h1>Big</h1>${paragraph.repeat(megabytes)}`);
};

describe('a fault of the page costs at most the step, within its deadline', () => {
  it('a page that never answers is given up: the old one stays', async () => {
    const { result, after, ms } = await actOn(to('/never'), click, { '/never': never });
    expect(result.ok).toBe(true);
    expect(after.text).toContain('Start');
    expect(ms).toBeLessThan(15_000);
  });

  it('an address that never answers is a timeout, and the next action works', async () => {
    const navigate = (): Action => ({ tool: 'navigate', url: 'http://app.sandbox/never' });
    const { result, after, ms } = await actOn(START, navigate, { '/never': never });
    expect(result).toMatchObject({ ok: false, code: 'timeout' });
    expect(after.elements.map(({ name }) => name)).toEqual(['Go']);
    expect(ms).toBeLessThan(15_000);
  });

  it('redirects without end are an address that cannot be opened', async () => {
    const redirect: Page = (request, response) => {
      response.writeHead(302, { location: `${request.url}x` });
      response.end();
    };
    const pages: Record<string, Page> = { '/r': redirect };
    for (let length = 1; length <= 40; length += 1) pages[`/r${'x'.repeat(length)}`] = redirect;
    const navigate = (): Action => ({ tool: 'navigate', url: 'http://app.sandbox/r' });
    const { result } = await actOn(START, navigate, pages);
    expect(result).toMatchObject({
      ok: false,
      code: 'not-found',
      message: expect.stringContaining('REDIRECTS'),
    });
  });

  it('a download is refused and told, and the page stays', async () => {
    const file: Page = (_, response) => {
      response.writeHead(200, { 'content-disposition': 'attachment; filename=a.zip' });
      response.end('zip');
    };
    const clicked = await actOn(to('/file'), click, { '/file': file });
    expect(clicked.after.text).toContain('Start');
    const navigate = (): Action => ({ tool: 'navigate', url: 'http://app.sandbox/file' });
    const { result } = await actOn(START, navigate, { '/file': file });
    expect(result).toEqual({ ok: true, note: 'http://app.sandbox/file sent nothing to show.' });
  });

  it('a popup becomes the active tab', async () => {
    const page = `${START}<script>go = () => open('/pop')</script>`;
    const { after } = await actOn(page, click, { '/pop': '<h1>Popped</h1>' });
    expect(after.text).toBe('Popped');
    expect(after.tabs.map(({ active }) => active)).toEqual([false, true]);
  });

  it('50 MB of text are read within limits', async () => {
    const { after, ms } = await actOn(to('/big'), click, { '/big': (_, response) => bytes(response, 50) });
    expect(after.title + after.text.slice(0, 3)).toContain('Big');
    expect(after.truncated).toBe(true);
    expect(after.text.length).toBeLessThanOrEqual(12_000);
    expect(ms).toBeLessThan(30_000);
  });

  it('a page that changes for ever is read all the same', async () => {
    const page = `${START}<p id=n></p><script>go = () => setInterval(() => { n.textContent = Date.now();
      document.body.append(document.createElement('i')) }, 5)</script>`;
    const { result, after, ms } = await actOn(page, click);
    expect(result.ok).toBe(true);
    expect(after.text).toContain('Start');
    expect(ms).toBeLessThan(8_000);
  });
});

// ---- whole rollouts ----------------------------------------------------------------------------------------

/** A benchmark of one page, graded by where the rollout ended. */
async function onPages(pages: Readonly<Record<string, Page>>, script: Script) {
  const site: Site = await serveSite(pages);
  const open: Benchmark['open'] = async () => ({
    proxyServer: site.proxyServer,
    pendingExpression: null,
    initialStateDigest: 'same',
    stateDigest: async () => 'same',
    captureEvidence: async (final) => ({ taskId: task.id, state: null, ...final }),
    flags: () => [],
    requestLog: () => ({ requests: [], dropped: 0 }),
    close: async () => undefined,
  });
  const grade: Benchmark['grade'] = async (_, { answer }) => ({
    kind: answer === 'arrived' ? 'success' : 'failure',
    message: '',
  });
  return { site, ...createScene({ store, testPool, script, benchmark: { open, grade } }) };
}

const stop: Action = { tool: 'stop', answer: 'arrived' };

describe('a fault of the place is never a number', () => {
  it('a killed browser: the rollout resumes and is graded', async () => {
    let kills = 0;
    const script: Script = ({ history }) => {
      if (history.length === 1 && kills === 0) {
        kills += 1;
        killBrowser(testPool);
      }
      return history.length < 2 ? { tool: 'wait' } : stop;
    };
    const { rollOut, openRollout, site } = await onPages(
      { [new URL(task.startUrl).pathname]: START },
      script,
    );
    const id = await openRollout('fault-browser');
    await expect(rollOut(id)).rejects.toMatchObject({ type: 'BrowserCrashed' });
    expect((await store.getRollout(id)).steps).toHaveLength(1);
    expect(await rollOut(id)).toMatchObject({ attempt: 1, outcome: { kind: 'success' }, steps: 3 });
    site.close();
  });

  it('a killed app server is weather while acting, and unscored when it stays away', async () => {
    const script: Script = ({ history, observation }) => {
      if (history.length === 1) void site.close();
      return history.length < 2 ? click(named(observation, 'button', 'Go').ref) : stop;
    };
    const path = new URL(task.startUrl).pathname;
    const { rollOut, openRollout, site } = await onPages({ [path]: to(path) }, script);
    const id = await openRollout('fault-server');
    const tryOnce = () =>
      rollOut(id).catch((error: unknown) => {
        expect(error).toMatchObject({ type: 'NetworkDown' });
        return null;
      });
    expect(await tryOnce()).toBeNull();
    expect((await store.getRollout(id)).steps).toHaveLength(1);
    let summary = await tryOnce();
    for (let tries = 2; summary === null && tries < 6; tries += 1) summary = await tryOnce();
    expect(summary).toMatchObject({ outcome: { kind: 'unscored', cause: 'infra' }, stopReason: 'died' });
  });
});

/** Clicks once and stops: what the rollout ended as, and what became of the click. */
async function clickOnce(id: string, go: string) {
  const page = `${START}<p id=done></p><script>go = () => { ${go}; done.textContent = 'over' }</script>`;
  const script: Script = ({ history, observation }) =>
    history.length === 0 ? click(named(observation, 'button', 'Go').ref) : stop;
  const { rollOut, openRollout, site } = await onPages({ [new URL(task.startUrl).pathname]: page }, script);
  const began = performance.now();
  const summary = await rollOut(await openRollout(id));
  const ms = performance.now() - began;
  site.close();
  const { steps } = await store.getRollout(id);
  return { summary, ms, result: steps[0]?.result };
}

describe('a fault of the page costs the rollout at most a step', () => {
  it('a storm of dialogs is answered with no, one after the other, and the rollout is graded', async () => {
    const { summary, ms, result } = await clickOnce(
      'fault-dialogs',
      'for (let n = 1; n <= 40; n += 1) confirm("Sure? " + n)',
    );
    expect(summary).toMatchObject({ outcome: { kind: 'success' }, steps: 2, attempt: 1 });
    expect(result).toMatchObject({ ok: true, note: expect.stringContaining('"Sure? 1", "Sure? 2"') });
    expect(ms).toBeLessThan(30_000);
  });

  it('a click that hangs is a step that timed out, and the rollout goes on when the page does', async () => {
    const { summary, ms, result } = await clickOnce(
      'fault-hang',
      'for (const end = Date.now() + 5000; Date.now() < end; );',
    );
    expect(summary).toMatchObject({ outcome: { kind: 'success' }, steps: 2, attempt: 1 });
    expect(result).toMatchObject({ ok: false, code: 'timeout' });
    expect(ms).toBeLessThan(30_000);
  });
});

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Environment } from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { createTestPool, type TestPool } from '../../activities/browser/support.ts';

const benchmark = createSandboxBenchmark();
let browsers: TestPool;
let browser: Browser;
beforeAll(async () => {
  browsers = await createTestPool();
  browser = (await browsers.pool.use()).browser;
});
afterAll(() => browsers.close());

async function onPage(
  name: string,
  use: (page: Page, environment: Environment) => Promise<void>,
): Promise<void> {
  const task = benchmark.tasks.find(({ id }) => id === `sandbox/${name}`);
  if (task === undefined) throw new Error(`there is no task ${name}`);
  const environment = await benchmark.open(task, new AbortController().signal);
  const context = await browser.newContext({ proxy: { server: environment.proxyServer ?? '' } });
  const page = await context.newPage();
  try {
    await page.goto(task.startUrl);
    await use(page, environment);
  } finally {
    await context.close();
    await environment.close();
  }
}

/** Calls the page's script without waiting, and says what was pending before anything could come back. */
const pendingRightAfter = (page: Page, script: string): Promise<unknown> =>
  page.evaluate(`(() => { ${script}; return window.__pending; })()`);
const settled = (page: Page): Promise<unknown> => page.waitForFunction('window.__pending === 0');

test('a page counts as pending from the click until the body has been replaced', () =>
  onPage('mail/star-email-1', async (page) => {
    await settled(page);
    expect(await pendingRightAfter(page, `document.querySelector('li button').click()`)).toBe(1);
    await settled(page);
    expect(await page.getByRole('status').textContent()).toBe('Email starred.');
  }));

test('a page is pending while it loads and before a plain link has left it', () =>
  onPage('shop/add-to-cart-1', async (page) => {
    await settled(page);
    expect(await pendingRightAfter(page, `document.querySelector('nav a[href="/cart"]').click()`)).toBe(1);
    await page.waitForURL('http://shop.sandbox/cart');
    await settled(page);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Cart');
  }));

test('two quick clicks are both carried out, and the page ends up calm with the last state', () =>
  onPage('mail/star-email-1', async (page) => {
    await settled(page);
    const script = `const [first, , second] = document.querySelectorAll('li button'); first.click(); second.click()`;
    expect(await pendingRightAfter(page, script)).toBe(2);
    await settled(page);
    expect(await page.getByRole('button', { name: 'Unstar' }).count()).toBe(2);
  }));

test('following a link changes the address, back and reload show the state of the server', () =>
  onPage('mail/star-email-1', async (page, environment) => {
    await settled(page);
    const subject = page.locator('li a').first();
    await subject.click();
    await page.waitForURL(/\/message\/\d+$/);
    await settled(page);
    await page.getByRole('button', { name: 'Star', exact: true }).click();
    await settled(page);
    const starred = await environment.stateDigest();
    await page.reload();
    await settled(page);
    expect(await environment.stateDigest()).toBe(starred);
    expect(await page.getByRole('status').count()).toBe(1);
    await page.goBack();
    await settled(page);
    expect(page.url()).toBe('http://mail.sandbox/inbox');
    expect(await page.getByRole('button', { name: 'Unstar' }).count()).toBe(1);
  }));

test('back across plain links loads the page anew and is calm again', () =>
  onPage('shop/add-to-cart-1', async (page) => {
    await page.getByRole('link', { name: 'Wishlist' }).click();
    await page.waitForURL('http://shop.sandbox/wishlist');
    await page.goBack();
    await settled(page);
    expect(page.url()).toBe('http://shop.sandbox/products');
    expect(await page.getByRole('button', { name: 'Add to cart' }).count()).toBeGreaterThan(0);
  }));

test('escape dismisses a dialog and closes nothing else', () =>
  onPage('mail/send-email-2', async (page) => {
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await settled(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Escape');
    await settled(page);
    expect(page.url()).toBe('http://mail.sandbox/inbox');
  }));

test('a list box opens, takes a choice and keeps what else was entered', () =>
  onPage('tracker/create-issue-1', async (page) => {
    await page.getByRole('link', { name: 'New issue' }).click();
    await settled(page);
    await page.getByLabel('Title').fill('Typed before');
    await page.getByRole('button', { name: 'Priority: Low' }).click();
    await page.getByRole('option', { name: 'High' }).click();
    expect(await page.getByRole('button', { name: 'Priority: High' }).count()).toBe(1);
    expect(await page.getByRole('option', { name: 'High' }).isVisible()).toBe(false);
    expect(await page.getByLabel('Title').inputValue()).toBe('Typed before');
  }));

test('a second button of a form sends its own command', () =>
  onPage('tracker/close-together-1', async (page) => {
    await settled(page);
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await settled(page);
    expect(await page.getByRole('status').textContent()).toBe('1 issues deleted.');
  }));

test('everything else cannot be reached, is flagged, and voids nothing', () =>
  onPage('mail/star-email-1', async (page, environment) => {
    await settled(page);
    const refused = await page.evaluate(
      `fetch('http://shop.sandbox/products', { mode: 'no-cors' }).then((r) => r.type)`,
    );
    expect(refused).toBe('opaque');
    await expect(page.evaluate(`fetch('https://example.com/')`)).rejects.toThrow('Failed to fetch');
    await page.goto('http://example.com/');
    expect(await page.textContent('h1')).toBe('example.com cannot be reached from here.');
    expect(environment.flags().map(({ detail }) => detail)).toEqual([
      'shop.sandbox',
      'example.com:443',
      'example.com',
    ]);
    expect(environment.flags().some(({ invalidates }) => invalidates)).toBe(false);
  }));

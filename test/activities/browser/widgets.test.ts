/** The widgets of web applications that speak no ARIA, each on a page of its own: read, then used. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Action, Observation } from '../../../benchmarks/contract.ts';
import { type Locator, locate } from '../../../cli/rollout/locate.ts';
import { createTestPool, openPages, type TestPool } from './support.ts';

let testPool: TestPool;
beforeAll(async () => {
  testPool = await createTestPool();
});
afterAll(() => testPool.close());

type Do = (action: (ref: (locator: Locator) => string) => Action) => Promise<Observation>;

/** Opens a page of the fixtures, as a site that does not say when it is done. */
async function onPage(name: string, use: (seen: Observation, act: Do) => Promise<void>): Promise<void> {
  const page = readFileSync(new URL(`../../fixtures/widgets/${name}.html`, import.meta.url), 'utf8');
  await using open = await openPages({ pages: { '/': page }, pool: testPool.pool, pendingExpression: null });
  let seen = await open.session.observe();
  await use(seen, async (action) => {
    const result = await open.session.act(action((locator) => locate(seen, locator).ref));
    expect(result).toMatchObject({ ok: true });
    seen = await open.session.observe();
    return seen;
  });
}

const click =
  (locator: Locator, kind: 'single' | 'right' = 'single') =>
  (ref: (locator: Locator) => string): Action => ({ tool: 'click', ref: ref(locator), kind });

const statesOf = (seen: Observation, locator: Locator) => locate(seen, locator).states;

it('toggles made of div elements are named by their row, and tell and change their position', () =>
  onPage('toggles', async (seen, act) => {
    expect(statesOf(seen, { name: 'Weekly digest' })).toContain('on');
    const switched = await act((ref) => ({
      tool: 'check',
      ref: ref({ name: 'Weekly digest' }),
      checked: false,
    }));
    expect(statesOf(switched, { name: 'Weekly digest' })).toContain('off');
    const both = switched.elements.filter(({ name }) => name === 'Count it');
    expect(both.map(({ context }) => context)).toEqual(['Office visit Count it', 'Phone call Count it']);
  }));

it('a check box without a size is checked through its label, a chip through its class', () =>
  onPage('toggles', async (seen, act) => {
    expect(statesOf(seen, { role: 'checkbox', name: 'Hidden box' })).toContain('unchecked');
    const checked = await act((ref) => ({ tool: 'check', ref: ref({ name: 'Hidden box' }), checked: true }));
    expect(statesOf(checked, { role: 'checkbox', name: 'Hidden box' })).toContain('checked');
    const chosen = await act(click({ name: 'Finance' }));
    expect(statesOf(chosen, { name: 'Finance' })).toContain('selected');
  }));

it('icon buttons are named by their title or their action, and told apart by their row, read or unread', () =>
  onPage('rows', async (seen, act) => {
    expect(locate(seen, { name: 'Star', context: 'Bea' }).role).toBe('button');
    expect(locate(seen, { name: 'delete-row', context: 'Cid' })).toBeDefined();
    const starred = await act(click({ name: 'Star', context: 'Bea' }));
    expect(starred.text).toContain('starred Bea');
    expect(statesOf(starred, { name: 'Unstar', context: 'Bea' })).toContain('on');
  }));

it('actions that only hovering shows, and a menu that only the right button opens, can be used', () =>
  onPage('rows', async (seen, act) => {
    expect(seen.elements.some(({ name }) => name === 'Archive')).toBe(false);
    await act((ref) => ({ tool: 'hover', ref: ref({ name: 'Ann' }) }));
    expect((await act(click({ name: 'Archive', context: 'Ann' }))).text).toContain('archived Ann');
    await act(click({ name: 'Cid' }, 'right'));
    expect((await act(click({ name: 'Mute' }))).text).toContain('muted Cid');
  }));

it('what a page of the old kind covers is said to be covered until the pseudo-dialog is closed', () =>
  onPage('dialog', async (_, act) => {
    const open = await act(click({ name: 'New label' }));
    expect(locate(open, { name: 'Compose' }).coveredBy).toBe('Create label');
    expect(statesOf(open, { role: 'textbox', name: 'Label name' })).toContain('in-dialog');
    await act((ref) => ({
      tool: 'type',
      ref: ref({ name: 'Label name' }),
      text: 'A',
      clear: true,
      submit: false,
    }));
    await act(click({ name: 'red' }));
    const closed = await act(click({ name: 'Save' }));
    expect(closed.text).toContain('made A in red');
    expect(locate(closed, { name: 'Compose' }).coveredBy).toBeNull();
  }));

it('of a page that is too full, what a dialog offers keeps its place and what it covers goes', () =>
  onPage('dialog', async (_, act) => {
    await act(click({ name: 'Fill' }));
    const open = await act(click({ name: 'New label' }));
    expect(open.truncated).toBe(true);
    const inDialog = open.elements.filter(({ states }) => states.includes('in-dialog'));
    expect(inDialog.map(({ name }) => name)).toEqual(['', 'Label name', 'red', 'blue', 'Save']);
  }));

it('a custom dropdown shows its options once it is open', () =>
  onPage('forms', async (_, act) => {
    const open = await act(click({ name: 'AUD', context: 'Currency' }));
    expect(open.elements.map(({ name }) => name)).toContain('NZD');
    expect(locate(await act(click({ name: 'NZD' })), { context: 'Currency' }).name).toBe('NZD ▾');
  }));

it('suggestions that come 300 ms after the last key are waited for, and clicked though nothing marks them', () =>
  onPage('forms', async (_, act) => {
    const typed = await act((ref) => ({
      ...{ tool: 'type', ref: ref({ name: 'Contact' }), text: 'at', clear: true, submit: false },
    }));
    expect(typed.elements.map(({ name }) => name)).toContain('Atlas Engineering');
    expect((await act(click({ name: 'Atlas Engineering' }))).text).toContain('chose Atlas Engineering');
  }));

it('a date field takes a date, a shortcut a key, a list a card that is dragged from far below', () =>
  onPage('forms', async (_, act) => {
    const due = (ref: (locator: Locator) => string): Action => ({
      ...{ tool: 'type', ref: ref({ name: 'Due' }), text: '2026-04-30', clear: true, submit: false },
    });
    expect(locate(await act(due), { name: 'Due' }).value).toBe('2026-04-30');
    expect((await act(() => ({ tool: 'press', key: 'e' }))).text).toContain('pressed e');
    const dropped = await act((ref) => ({
      ...{ tool: 'drag', ref: ref({ name: 'Card' }), toRef: ref({ name: 'Done list' }) },
    }));
    expect(dropped.text).toContain('dropped Card');
  }));

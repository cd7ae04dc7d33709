import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Action, ActionResult, ObservedElement } from '../../../benchmarks/contract.ts';
import {
  createTestPool,
  named,
  type OpenSite,
  openPages,
  type Page,
  PENDING,
  type TestPool,
} from './support.ts';

let testPool: TestPool;
beforeAll(async () => {
  testPool = await createTestPool();
});
afterAll(() => testPool.close());

const open = (page: Page, more: Readonly<Record<string, Page>> = {}) =>
  openPages({ pages: { '/': page, ...more }, pool: testPool.pool });

/** Acts on the element of that role and name, as the page stands now. */
async function actOn(
  { session }: OpenSite,
  role: string,
  name: string,
  action: (ref: string) => Action,
): Promise<ActionResult> {
  return session.act(action(named(await session.observe(), role, name).ref));
}

const click = (ref: string): Action => ({ tool: 'click', ref, kind: 'single' });
const type =
  (text: string, more: Partial<Extract<Action, { tool: 'type' }>> = {}) =>
  (ref: string): Action => ({
    tool: 'type',
    ref,
    text,
    clear: true,
    submit: false,
    ...more,
  });
const textOf = async ({ session }: OpenSite) => (await session.observe()).text;
const element = async ({ session }: OpenSite, role: string, name: string): Promise<ObservedElement> =>
  named(await session.observe(), role, name);

const DONE = { ok: true, note: null };
/** Writes whatever event the page hears into its text. */
const LOG = `<p id=log></p><script>const say = (t) => { log.textContent += t + ' ' }</script>`;

describe('click', () => {
  it('single, double and right clicks are real mouse events', async () => {
    await using site =
      await open(`${LOG}<button onclick="say('click'+event.isTrusted)" ondblclick="say('double')"
      oncontextmenu="say('menu');return false" onmouseenter="say('enter')">Go</button>`);
    expect(await actOn(site, 'button', 'Go', click)).toEqual(DONE);
    expect(await textOf(site)).toContain('enter clicktrue');
    await actOn(site, 'button', 'Go', (ref) => ({ tool: 'click', ref, kind: 'double' }));
    await actOn(site, 'button', 'Go', (ref) => ({ tool: 'click', ref, kind: 'right' }));
    expect(await textOf(site)).toContain('double menu');
  });

  it('brings an element that is off the screen on it first', async () => {
    await using site = await open(
      `${LOG}<p style="height:3000px">x</p><button onclick="say('hit')">Far</button>`,
    );
    expect((await element(site, 'button', 'Far')).states).toContain('offscreen');
    expect(await actOn(site, 'button', 'Far', click)).toEqual(DONE);
    expect(await textOf(site)).toContain('hit');
  });

  it('a covered element is refused with what covers it', async () => {
    await using site = await open(`${LOG}<button onclick="say('hit')">Under</button>
      <div role=dialog aria-label="Pick a plan" style="position:fixed;inset:0"><button>Close</button></div>`);
    const result = await actOn(site, 'button', 'Under', click);
    expect(result).toMatchObject({
      ok: false,
      code: 'covered',
      message: expect.stringContaining('Pick a plan'),
    });
    expect(await textOf(site)).not.toContain('hit');
  });

  it('a disabled element is refused', async () => {
    await using site = await open('<button disabled>Pay</button>');
    expect(await actOn(site, 'button', 'Pay', click)).toMatchObject({ ok: false, code: 'disabled' });
  });

  it('a ref of an element that went away is stale, and so is one that never was', async () => {
    await using site = await open(`<button id=a>A</button><button onclick="a.remove()">Remove</button>`);
    const { ref } = await element(site, 'button', 'A');
    await actOn(site, 'button', 'Remove', click);
    await site.session.observe();
    expect(await site.session.act(click('e9'))).toMatchObject({ ok: false, code: 'stale' });
    expect(ref).toBe('e1');
  });

  it('a ref outlives a re-rendering of its element, unless two could be meant', async () => {
    const page = (names: string[]) => `${LOG}<div id=box></div><script>
      const draw = () => { box.innerHTML = ${JSON.stringify(names)}.map((n) =>
        '<button onclick="say(\\'hit\\'); draw()">' + n + '</button>').join('') }; draw(); globalThis.draw = draw;</script>`;
    for (const [names, result] of [
      [['One', 'Two'], { ok: true }],
      [['Two', 'Two'], { ok: false, code: 'stale' }],
    ] as const) {
      await using site = await open(page([...names]));
      const { ref } = await element(site, 'button', 'Two');
      expect(await site.session.act(click(ref))).toMatchObject({ ok: true });
      expect(await site.session.act(click(ref))).toMatchObject(result);
    }
  });

  it('a control inside a card does not take the click that was meant for the card', async () => {
    await using site =
      await open(`${LOG}<div onclick="say('card')" style="width:200px;padding:30px;text-align:center">
      Visa<button onclick="say('delete');event.stopPropagation()">Delete</button></div>`);
    const card = (await site.session.observe()).elements[0];
    expect(await site.session.act(click(card?.ref ?? ''))).toEqual(DONE);
    expect(await textOf(site)).toContain('card');
    expect(await textOf(site)).not.toContain('delete ');
  });

  it('what the page asks in a dialog is answered with no, and told', async () => {
    await using site = await open(`${LOG}<button onclick="say(confirm('Delete all?'))">Delete</button>`);
    expect(await actOn(site, 'button', 'Delete', click)).toEqual({
      ok: true,
      note: 'A dialog said "Delete all?" and was dismissed.',
    });
    expect(await textOf(site)).toContain('false');
  });
});

describe('check', () => {
  it('a checkbox without a size is checked through its label, once', async () => {
    await using site =
      await open(`<label><input type=checkbox style="width:0;height:0;position:absolute;opacity:0">
      <span style="padding:9px">Dark mode</span></label>`);
    const check =
      (checked: boolean) =>
      (ref: string): Action => ({ tool: 'check', ref, checked });
    expect(await actOn(site, 'checkbox', 'Dark mode', check(true))).toEqual(DONE);
    expect((await element(site, 'checkbox', 'Dark mode')).states).toContain('checked');
    expect(await actOn(site, 'checkbox', 'Dark mode', check(true))).toEqual({
      ok: true,
      note: 'It was already checked.',
    });
    expect(await actOn(site, 'checkbox', 'Dark mode', check(false))).toEqual(DONE);
    expect((await element(site, 'checkbox', 'Dark mode')).states).toContain('unchecked');
  });

  it('toggles that only look like one can be switched; a radio button cannot be unchecked', async () => {
    await using site =
      await open(`<div class=toggle-switch style="cursor:pointer" onclick="this.classList.toggle('active')">Sync</div>
      <input type=radio name=r checked aria-label=A><p onclick="">Text</p>`);
    const check =
      (checked: boolean) =>
      (ref: string): Action => ({ tool: 'check', ref, checked });
    expect(await actOn(site, 'generic', 'Sync', check(true))).toEqual(DONE);
    expect((await element(site, 'generic', 'Sync')).states).toContain('on');
    expect(await actOn(site, 'radio', 'A', check(false))).toMatchObject({ ok: false, code: 'invalid' });
    expect(await actOn(site, 'generic', 'Text', check(true))).toMatchObject({ ok: false, code: 'invalid' });
  });
});

describe('type and press', () => {
  it('replaces or continues the text, and the page hears keys and input', async () => {
    await using site = await open(`${LOG}<input aria-label=Name value=old oninput="say('input:'+value)"
      onkeydown="say('down')" onkeyup="say('up:'+value)" onchange="say('change')">`);
    expect(await actOn(site, 'textbox', 'Name', type('Ann'))).toEqual(DONE);
    expect(await textOf(site)).toBe('down input:Ann up:Ann');
    await actOn(site, 'textbox', 'Name', type(' Lee', { clear: false }));
    expect((await element(site, 'textbox', 'Name')).value).toBe('Ann Lee');
    await actOn(site, 'textbox', 'Name', type(''));
    expect((await element(site, 'textbox', 'Name')).value).toBe('');
  });

  it('submits the form with Enter', async () => {
    await using site = await open('<form action=/found><input name=q aria-label=Search></form>', {
      '/found': 'here',
    });
    await actOn(site, 'textbox', 'Search', type('shoes', { submit: true }));
    expect(site.session.url()).toBe('http://app.sandbox/found?q=shoes');
  });

  it('fills dates and editable text, keeps new lines in a text area', async () => {
    await using site = await open(`<input type=date aria-label=Day><textarea aria-label=Note></textarea>
      <div contenteditable aria-label=Body>old</div><input type=number aria-label=Count value=3>`);
    expect(await actOn(site, 'textbox', 'Day', type('2026-04-30'))).toEqual(DONE);
    expect(await actOn(site, 'textbox', 'Day', type('30/04/2026'))).toMatchObject({
      ok: false,
      code: 'invalid',
      message: expect.stringContaining('YYYY-MM-DD'),
    });
    await actOn(site, 'textbox', 'Note', type('one\ntwo'));
    await actOn(site, 'textbox', 'Body', type('new'));
    await actOn(site, 'spinbutton', 'Count', type('12'));
    const values = (await site.session.observe()).elements.map(({ value }) => value);
    expect(values).toEqual(['2026-04-30', 'one\ntwo', 'new', '12']);
  });

  it('refuses what takes no text', async () => {
    await using site = await open('<button>Go</button><input readonly aria-label=Fixed value=1>');
    expect(await actOn(site, 'button', 'Go', type('x'))).toMatchObject({ ok: false, code: 'not-editable' });
    expect(await actOn(site, 'textbox', 'Fixed', type('x'))).toMatchObject({
      ok: false,
      code: 'not-editable',
    });
  });

  it('types into the field that a click on a combobox brings up', async () => {
    await using site =
      await open(`<div role=combobox tabindex=0 onclick="this.innerHTML='<input aria-label=Person>';
      this.firstChild.focus()">Choose</div>`);
    expect(await actOn(site, 'combobox', 'Choose', type('Ann'))).toEqual(DONE);
    expect((await element(site, 'textbox', 'Person')).value).toBe('Ann');
  });

  it('presses keys and refuses keys that do not exist', async () => {
    await using site = await open(
      `${LOG}<script>onkeydown = (e) => say(e.key + (e.ctrlKey ? '+ctrl' : ''))</script>`,
    );
    expect(await site.session.act({ tool: 'press', key: 'Escape' })).toEqual(DONE);
    await site.session.act({ tool: 'press', key: 'Control+a' });
    expect(await textOf(site)).toContain('Escape Control+ctrl a+ctrl');
    expect(await site.session.act({ tool: 'press', key: 'Banana' })).toMatchObject({
      ok: false,
      code: 'invalid',
    });
  });
});

describe('select', () => {
  const page = `${LOG}<select aria-label=Size onchange="say('change:'+value)"><option value=s>Small<option value=l>Large
    <option disabled>Huge<optgroup disabled label="Sold out"><option>Tiny</optgroup></select><div role=listbox tabindex=0>Custom</div>`;
  const select =
    (option: string) =>
    (ref: string): Action => ({ tool: 'select', ref, option });

  it('takes a label, a value or a label in other letters', async () => {
    await using site = await open(page);
    for (const [option, value] of [
      ['Large', 'Large'],
      ['s', 'Small'],
      ['lARGE ', 'Large'],
    ] as const) {
      expect(await actOn(site, 'combobox', 'Size', select(option))).toEqual(DONE);
      expect((await element(site, 'combobox', 'Size')).value).toBe(value);
    }
    expect(await textOf(site)).toContain('change:l change:s change:l');
  });

  it('refuses an option that is not there with those that are', async () => {
    await using site = await open(page);
    expect(await actOn(site, 'combobox', 'Size', select('Medium'))).toMatchObject({
      ok: false,
      code: 'no-such-option',
      message: expect.stringContaining('Small | Large'),
    });
    for (const unavailable of ['Huge', 'Tiny']) {
      expect(await actOn(site, 'combobox', 'Size', select(unavailable))).toMatchObject({
        ok: false,
        code: 'disabled',
      });
    }
    expect(await actOn(site, 'listbox', 'Custom', select('x'))).toMatchObject({
      ok: false,
      code: 'not-editable',
    });
  });
});

describe('moving about', () => {
  it('scrolls the page, a region, and the main region of a page that does not scroll itself', async () => {
    await using site =
      await open(`<div aria-label=Log style="height:100px;width:200px;overflow:auto;position:fixed">
      <p style="height:900px">x</p></div><p style="height:3000px">tall</p>`);
    expect(await site.session.act({ tool: 'scroll', ref: null, direction: 'down' })).toEqual(DONE);
    expect((await site.session.observe()).scroll.topPx).toBe(576);
    await actOn(site, 'region', 'Log', (ref) => ({ tool: 'scroll', ref, direction: 'down' }));
    expect((await site.session.observe()).scroll.topPx).toBe(576);
    await site.session.act({ tool: 'scroll', ref: null, direction: 'up' });
    expect(await site.session.act({ tool: 'scroll', ref: null, direction: 'up' })).toEqual({
      ok: true,
      note: 'There is nothing more to scroll up.',
    });
    await using shell =
      await open(`<body style="margin:0;height:100vh;overflow:hidden"><main style="height:100%;overflow:auto"
      onscroll="t.textContent='scrolled'"><b id=t>top</b><p style="height:3000px">x</p></main>`);
    await shell.session.act({ tool: 'scroll', ref: null, direction: 'down' });
    expect(await textOf(shell)).toContain('scrolled');
  });

  it('finds text, scrolls to it and says where', async () => {
    await using site = await open(
      '<p style="height:2000px">x</p><ul><li>Order <b>77</b> sent<li>Order 78</ul>',
    );
    expect(await site.session.act({ tool: 'find', text: 'order 7' })).toMatchObject({
      note: '2 found: "Order 77 sent", "Order 78". Scrolled to the first.',
    });
    expect((await site.session.observe()).scroll.topPx).toBeGreaterThan(1000);
    expect(await site.session.act({ tool: 'find', text: 'invoice' })).toMatchObject({
      ok: false,
      code: 'not-found',
    });
  });

  it('hovering shows what only hovering shows', async () => {
    await using site = await open(`<style>i{display:none} div:hover i{display:inline}</style>
      <div tabindex=0>Row <i><button>Archive</button></i></div>`);
    expect((await site.session.observe()).elements).toHaveLength(1);
    await site.session.act({ tool: 'hover', ref: 'e1' });
    expect((await element(site, 'button', 'Archive')).states).not.toContain('offscreen');
  });

  it('drags by the drag and drop of HTML', async () => {
    await using site =
      await open(`${LOG}<div draggable=true ondragstart="event.dataTransfer.setData('text/plain','card')"
      >Card</div><div tabindex=0 ondragover="event.preventDefault()" style="margin:40px;height:80px"
      ondrop="say('dropped:'+event.dataTransfer.getData('text/plain'))">Done</div>`);
    const observation = await site.session.observe();
    const ref = named(observation, 'generic', 'Card').ref;
    expect(
      await site.session.act({ tool: 'drag', ref, toRef: named(observation, 'generic', 'Done').ref }),
    ).toEqual(DONE);
    expect(await textOf(site)).toContain('dropped:card');
  });

  it('goes back, through states of the history too, and not before the start', async () => {
    await using site = await open(`<a href=/two>Two</a>`, {
      '/two': `<button onclick="history.pushState({}, '', '/three')">Push</button>`,
    });
    expect(await site.session.act({ tool: 'back' })).toMatchObject({ ok: false, code: 'invalid' });
    await actOn(site, 'link', 'Two', click);
    await actOn(site, 'button', 'Push', click);
    expect(site.session.url()).toBe('http://app.sandbox/three');
    await site.session.act({ tool: 'back' });
    expect(site.session.url()).toBe('http://app.sandbox/two');
    await site.session.act({ tool: 'back' });
    expect((await site.session.observe()).url).toBe('http://app.sandbox/');
  });

  it('a window that the page opens becomes the active tab; tabs can be switched', async () => {
    await using site = await open(
      '<a href=/two target=_blank>Two</a><button onclick="window.open(\'/two\')">Open</button>',
      {
        '/two': '<title>Second</title><h1>Two</h1>',
      },
    );
    await actOn(site, 'link', 'Two', click);
    const seen = await site.session.observe();
    expect(seen.tabs).toEqual([
      { index: 0, url: 'http://app.sandbox/', title: '', active: false },
      { index: 1, url: 'http://app.sandbox/two', title: 'Second', active: true },
    ]);
    expect(await site.session.act({ tool: 'tab', index: 0 })).toEqual(DONE);
    await actOn(site, 'button', 'Open', click);
    expect((await site.session.observe()).tabs).toHaveLength(3);
    expect(await site.session.act({ tool: 'tab', index: 9 })).toMatchObject({ ok: false, code: 'invalid' });
  });
});

describe('a window that closes', () => {
  const pages = {
    '/': `<h1>Main</h1><button onclick="window.open('/window')">Open</button>
      <button onclick="window.open('/gone').close()">Flash</button>`,
    '/window': '<h1>Window</h1><button onclick="window.close()">Close</button>',
    '/brief': '<h1>Brief</h1><script>setTimeout(close, 100)</script>',
    '/gone': '<h1>Gone</h1>',
  };
  const brief = { ...pages, '/window': pages['/brief'] };
  const openWith = (served: typeof pages, pendingExpression: string | null) =>
    openPages({ pages: served, pool: testPool.pool, pendingExpression });
  const rules = [PENDING, null];

  it.each(rules)('by its own button gives the eye back to the page before it: %s', async (rule) => {
    await using site = await openWith(pages, rule);
    for (let times = 0; times < 3; times += 1) {
      await actOn(site, 'button', 'Open', click);
      expect(await textOf(site)).toContain('Window');
      expect(await actOn(site, 'button', 'Close', click)).toMatchObject({ ok: true });
      expect(await textOf(site)).toContain('Main');
    }
  });

  it.each(rules)('by itself, whatever is under way then, costs nothing but the window: %s', async (rule) => {
    await using site = await openWith(brief, rule);
    for (let times = 0; times < 3; times += 1) {
      await actOn(site, 'button', 'Open', click);
      while ((await site.session.observe()).tabs.length > 1) {
        expect(await site.session.act({ tool: 'wait' })).toMatchObject({ ok: true });
        await site.session.screenshot();
      }
      expect(await textOf(site)).toContain('Main');
    }
  });

  it('as soon as it opens makes room for others', async () => {
    await using site = await openWith(pages, PENDING);
    for (let times = 0; times < 12; times += 1) await actOn(site, 'button', 'Flash', click);
    await actOn(site, 'button', 'Open', click);
    expect(await textOf(site)).toContain('Window');
  });
});

it('a page in the background that hangs is nobody’s loss', async () => {
  const hanging = `<button onclick="window.open('/two', '_blank', 'noopener'); setTimeout(() => { for (;;); })">Open</button>`;
  await using site = await openPages({
    pages: { '/': hanging, '/two': '<h1>Two</h1>' },
    pool: testPool.pool,
    pendingExpression: null,
  });
  await actOn(site, 'button', 'Open', click);
  expect(await textOf(site)).toContain('Two');
}, 60_000);

it('a page that asks before it is left is left, and nothing is said of a dialog', async () => {
  await using site = await open(
    '<button onclick="onbeforeunload = (event) => event.preventDefault()">Edit</button><a href=/two>Two</a>',
    { '/two': '<h1>Two</h1>' },
  );
  await actOn(site, 'button', 'Edit', click);
  expect(await actOn(site, 'link', 'Two', click)).toEqual(DONE);
  expect(await textOf(site)).toContain('Two');
});

describe('navigation guards', () => {
  it('navigate opens allowed hosts over http only', async () => {
    await using site = await open('<h1>Home</h1>', { '/two': '<h1>Two</h1>' });
    expect(await site.session.act({ tool: 'navigate', url: 'http://app.sandbox/two' })).toEqual(DONE);
    expect(site.session.url()).toBe('http://app.sandbox/two');
    for (const url of [
      'http://evil.example/',
      'http://app.sandbox.evil.example/',
      'http://app.sandbox@evil.example/',
      'http://app.sandbox:8080/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,hi',
      'chrome://version',
      'view-source:http://app.sandbox/',
    ]) {
      expect(await site.session.act({ tool: 'navigate', url }), url).toMatchObject({
        ok: false,
        code: 'not-allowed',
      });
    }
    expect(site.session.url()).toBe('http://app.sandbox/two');
    expect(site.site.requests.every((url) => url.startsWith('http://app.sandbox/'))).toBe(true);
  });

  it('every request goes through the proxy, loopback addresses included', async () => {
    await using site = await open(`<img src="http://127.0.0.1:8099/a"><img src="http://localhost:8099/b">
      <script>fetch('http://tracker.example/c').catch(() => 0)</script>`);
    expect(site.site.requests).toEqual(
      expect.arrayContaining([
        'http://127.0.0.1:8099/a',
        'http://localhost:8099/b',
        'http://tracker.example/c',
      ]),
    );
  });

  it('an address that cannot be loaded is a result, and so are endless redirects', async () => {
    await using site = await open('<h1>Home</h1>', {
      '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
      '/reset': (request) => request.socket.destroy(),
      '/file': (_, response) =>
        response.writeHead(200, { 'content-disposition': 'attachment; filename=a.zip' }).end('zip'),
    });
    const go = (path: string) => site.session.act({ tool: 'navigate', url: `http://app.sandbox${path}` });
    expect(await go('/loop')).toMatchObject({
      ok: false,
      message: expect.stringContaining('TOO_MANY_REDIRECTS'),
    });
    expect(await go('/reset')).toMatchObject({ ok: false, code: 'not-found' });
    expect(await go('/file')).toMatchObject({ ok: true, note: expect.stringContaining('nothing to show') });
    expect(await go('/')).toEqual(DONE);
    expect(await textOf(site)).toBe('Home');
  });
});

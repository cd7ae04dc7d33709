/// <reference lib="dom" />
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Observation } from '../../../benchmarks/contract.ts';
import { createTestPool, named, openPages, type Page, type TestPool } from './support.ts';

let testPool: TestPool;
beforeAll(async () => {
  testPool = await createTestPool();
});
afterAll(() => testPool.close());

async function look(page: Page, startUrl?: string): Promise<Observation> {
  const pages = { '/': page };
  await using open = await openPages({ pages, pool: testPool.pool, ...(startUrl && { startUrl }) });
  return await open.session.observe();
}

describe('what the policy sees', () => {
  it('a control has the role and the name that a screen reader would tell', async () => {
    const { elements } = await look(`
      <a href="/x">Home</a> <button>Save <b>now</b></button> <button aria-label="Close">×</button>
      <button title="Archive"><svg width=20 height=20></svg></button> <input type=submit value="Send">
      <label for=mail>E-mail</label><input id=mail type=email value="a@b.c">
      <label>Notes <textarea>first</textarea></label> <input type=search placeholder="Find people">
      <span id=l>Volume</span><input type=range aria-labelledby=l value=30>
      <div role=tab aria-selected=true tabindex=0>Files</div> <details><summary>More</summary>Hidden words</details>
      <div contenteditable aria-label=Body>typed</div> <img src="" alt=Logo style="cursor:pointer;width:9px;height:9px">`);
    expect(elements.map(({ role, name, value, states }) => [role, name, value, ...states])).toEqual([
      ['link', 'Home', null],
      ['button', 'Save now', null],
      ['button', 'Close', null],
      ['button', 'Archive', null],
      ['button', 'Send', null],
      ['textbox', 'E-mail', 'a@b.c'],
      ['textbox', 'Notes', 'first'],
      ['searchbox', 'Find people', ''],
      ['slider', 'Volume', '30'],
      ['tab', 'Files', null, 'selected'],
      ['button', 'More', null, 'collapsed'],
      ['textbox', 'Body', 'typed'],
      ['img', 'Logo', null],
    ]);
  });

  it('toggles tell their position, by ARIA or by their class', async () => {
    const { elements } = await look(`
      <button aria-pressed=true>Bold</button> <button role=switch aria-checked=false>Wifi</button>
      <div class="toggle-switch active" style="cursor:pointer">Sync</div>
      <div class="toggle-switch" style="cursor:pointer">Beta</div>
      <div class="chip selected" onclick="">Red</div> <div class="star starred" onclick="">Star</div>
      <label><input type=checkbox checked>Agree</label> <input type=radio aria-label=Later>
      <button disabled>Pay</button> <button aria-expanded=true>Menu</button> <input required aria-label=Must>`);
    expect(elements.map(({ name, states }) => [name, ...states])).toEqual([
      ['Bold', 'on'],
      ['Wifi', 'unchecked'],
      ['Sync', 'on'],
      ['Beta', 'off'],
      ['Red', 'selected'],
      ['Star', 'on'],
      ['Agree', 'checked'],
      ['Later', 'unchecked'],
      ['Pay', 'disabled'],
      ['Menu', 'expanded'],
      ['Must', 'required'],
    ]);
  });

  it('a native checkbox without a size is listed by its label', async () => {
    const observation = await look(`<label class=switch><input type=checkbox checked
      style="width:0;height:0;opacity:0;position:absolute"><span style="padding:9px">Dark mode</span></label>
      <input type=checkbox aria-label=Nowhere style="width:0;height:0;position:absolute;appearance:none">`);
    expect(observation.elements.map(({ role, name, states }) => [role, name, ...states])).toEqual([
      ['checkbox', 'Dark mode', 'checked'],
    ]);
  });

  it('eight equal buttons differ by their row and their heading', async () => {
    const { elements } = await look(`<h2>Members</h2><table>
      <tr><td>Ann<td><button>Edit</button><tr><td>Bob<td><button>Edit</button></table>
      <h2>Cards</h2><div><div class=tile><p>Visa</p><button>Edit</button></div><div class=tile><p>Amex</p><button>Edit</button></div></div>
      <ul><li>Zoe <button>Edit</button></ul>`);
    expect(elements.map(({ name, context, heading }) => [name, context, heading])).toEqual([
      ['Edit', 'Ann | Edit', 'Members'],
      ['Edit', 'Bob | Edit', 'Members'],
      ['Edit', 'Visa Edit', 'Cards'],
      ['Edit', 'Amex Edit', 'Cards'],
      ['Edit', 'Zoe Edit', 'Cards'],
    ]);
  });

  it('a layer over the page marks what it covers with its title, off the screen too', async () => {
    const observation =
      await look(`<button>Under</button><p style="height:2000px">x</p><button>Far below</button>
      <div style="position:fixed;inset:0;z-index:5;background:#0009"><div style="background:#fff;width:300px">
      <h3>New label</h3><button>Create</button></div></div>`);
    expect(named(observation, 'button', 'Under')).toMatchObject({ coveredBy: 'New label' });
    expect(named(observation, 'button', 'Far below')).toMatchObject({
      coveredBy: 'New label',
      states: ['offscreen'],
    });
    expect(named(observation, 'button', 'Create')).toMatchObject({ coveredBy: null, states: ['in-dialog'] });
  });

  it('a card is not covered by the button inside it', async () => {
    const { elements } = await look(
      `<div onclick="" style="width:300px;padding:40px;text-align:center">Card<button>Buy</button></div>`,
    );
    expect(elements.map(({ coveredBy }) => coveredBy)).toEqual([null, null]);
  });

  it('text comes in reading order, one block a line, without what nobody sees', async () => {
    const { text } = await look(`<h1>Title</h1><p>One <b>bo</b>ld
      word<br>next</p><p hidden>secret</p><p style="visibility:hidden">ghost</p><script>let code</script>
      <table><tr><td>A<td>B</table><div style="opacity:0">faded</div><select><option>choice</select>`);
    expect(text).toBe('Title\nOne bold word\nnext\nA | B');
  });

  it('open shadow trees are part of the page', async () => {
    const observation = await look(`<x-card>slotted</x-card><script>
      customElements.define('x-card', class extends HTMLElement { constructor() { super();
        this.attachShadow({mode:'open'}).innerHTML = '<button>Inside</button> <slot></slot>'; } });</script>`);
    expect(named(observation, 'button', 'Inside').coveredBy).toBeNull();
    expect(observation.text).toBe('Inside slotted');
  });

  it('a long page is cut to its budget, what is on the screen first', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => `<p><a href="/${i}">Row ${i}</a></p>`).join('');
    const observation = await look(
      `${rows}<div style="position:fixed;top:0;right:0"><button>Top</button></div>`,
    );
    expect(observation.truncated).toBe(true);
    expect(observation.elements).toHaveLength(200);
    expect(observation.elements.at(-1)).toMatchObject({ name: 'Top', states: [] });
    expect(observation.elements.map(({ ref }) => ref)).toEqual(
      observation.elements.map((_, i) => `e${i + 1}`),
    );
  });

  it('of a list that is too long, rows make room, and what stands beside it stays', async () => {
    const rows = (kind: string, count: number) =>
      Array.from(
        { length: count },
        (_, i) =>
          `<tr class="${kind} ${i % 2 ? 'unread' : ''}"><td>${kind} ${i} ${'.'.repeat(30)}<td><button>Edit</button><td><button>Delete</button></tr>`,
      ).join('');
    const observation = await look(`<h2>Users</h2><table>${rows('user', 150)}</table>
      <h2>Teams</h2><table>${rows('team', 30)}</table><form><input aria-label=Name><button>Invite</button></form>
      <p>The end`);
    const namesOf = observation.elements.map(({ name, context }) => `${name} ${context.split(' .')[0]}`);
    expect(observation.elements.length).toBeGreaterThan(190);
    expect(observation.elements.length).toBeLessThanOrEqual(200);
    expect(namesOf).toContain('Edit user 0');
    expect(namesOf).toContain('Delete user 0');
    expect(namesOf).toContain('Edit team 29');
    expect(namesOf).not.toContain('Edit user 149');
    expect(named(observation, 'textbox', 'Name').heading).toBe('Teams');
    named(observation, 'button', 'Invite');
    expect(observation.text).toContain('The end');
    expect(observation.text).toContain('team 29');
    expect(observation.truncated).toBe(true);
    const shown = namesOf.filter((name) => name.startsWith('Edit user')).length;
    expect(observation.leftOut).toEqual([
      { like: `user 0 ${'.'.repeat(30)} | Edit | Delete`, heading: 'Users', rows: 150, leftOut: 150 - shown },
    ]);
  });

  it('what was left out of a list is there once it was found', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `<li>Person ${i} <a href="/${i}">Open</a></li>`).join(
      '',
    );
    await using open = await openPages({ pages: { '/': `<ul>${rows}</ul>` }, pool: testPool.pool });
    const contexts = async () => (await open.session.observe()).elements.map(({ context }) => context);
    expect(await contexts()).not.toContain('Person 280 Open');
    await open.session.act({ tool: 'find', text: 'Person 280' });
    expect(await contexts()).toContain('Person 280 Open');
    expect(await contexts()).toContain('Person 2 Open');
  });

  it('lists and scrolling regions can be acted on', async () => {
    const observation = await look(`<select aria-label=Size><option>Small<option selected>Large</select>
      <div aria-label=Log style="height:50px;overflow:auto"><p style="height:500px">x</p></div>`);
    expect(named(observation, 'combobox', 'Size')).toMatchObject({
      value: 'Large',
      options: ['Small', 'Large'],
    });
    expect(named(observation, 'region', 'Log')).toBeDefined();
    expect(observation.scroll).toMatchObject({ topPx: 0, viewportPx: 720 });
  });

  it('the clock stands where the benchmark set it, in UTC and American English', async () => {
    const page =
      '<p id=p></p><script>p.textContent = new Date().toLocaleString() + Intl.DateTimeFormat().resolvedOptions().timeZone</script>';
    await using open = await openPages({
      pages: { '/': page },
      pool: testPool.pool,
      clock: '2026-03-07T12:00:00Z',
    });
    expect((await open.session.observe()).text).toBe('3/7/2026, 12:00:00 PMUTC');
  });
});

describe('a screenshot with marks', () => {
  it('has the ref of each element that can be clicked around it, and leaves the page alone', async () => {
    const page = `<p id=n>0</p><button style="position:absolute;left:100px;top:100px;width:80px;height:40px">Go</button>
      <button style="position:absolute;top:3000px">Far</button><script>new MutationObserver(() => {
      n.title = 'touched' }).observe(document, { childList: true, subtree: true, attributes: true })</script>`;
    await using open = await openPages({ pages: { '/': page }, pool: testPool.pool });
    const before = await open.session.observe();
    const plain = await open.session.screenshot();
    const marked = await open.session.screenshot({ marks: true });
    expect(await differences(plain, marked)).toEqual({ left: 99, top: 99, right: 180, bottom: 140 });
    expect(await open.session.observe()).toEqual(before);
  });

  /** The box in which two pictures differ by more than what JPEG blurs. */
  async function differences(one: Uint8Array, other: Uint8Array) {
    const use = await testPool.pool.use();
    const page = await use.browser.newPage();
    try {
      const urls = [one, other].map(
        (jpeg) => `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`,
      );
      return await page.evaluate(compareInPage, urls);
    } finally {
      await page.close();
      await use.release('sound');
    }
  }

  async function compareInPage(urls: readonly string[]) {
    const [one, other] = await Promise.all(
      urls.map(async (src) => {
        const image = new Image();
        image.src = src;
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context?.drawImage(image, 0, 0);
        return context?.getImageData(0, 0, image.width, image.height);
      }),
    );
    const box = { left: Infinity, top: Infinity, right: 0, bottom: 0 };
    for (let at = 0; one && other && at < one.data.length; at += 4) {
      const change = Math.abs((one.data[at + 1] ?? 0) - (other.data[at + 1] ?? 0));
      if (change < 90) continue;
      const [x, y] = [(at / 4) % one.width, Math.floor(at / 4 / one.width)];
      box.left = Math.min(box.left, x);
      box.top = Math.min(box.top, y);
      box.right = Math.max(box.right, x);
      box.bottom = Math.max(box.bottom, y);
    }
    return box;
  }
});

describe('determinism', () => {
  it('the same actions twice give identical observations', async () => {
    const page = `<button onclick="n.textContent = Number(n.textContent) + 1">Add</button><b id=n>0</b>
      <div style="transition: margin 1s" onclick="this.style.marginTop='200px'">Slide</div>
      <script>requestAnimationFrame(() => document.body.append('late'))</script>`;
    const play = async () => {
      await using open = await openPages({ pages: { '/': page }, pool: testPool.pool });
      const seen = [await open.session.observe()];
      for (const name of ['Add', 'Slide', 'Add']) {
        const ref = seen.at(-1)?.elements.find((element) => element.name === name)?.ref ?? '';
        await open.session.act({ tool: 'click', ref, kind: 'single' });
        seen.push(await open.session.observe());
      }
      return seen;
    };
    const first = await play();
    expect(await play()).toEqual(first);
    expect(first.map(({ text }) => text)).toEqual([
      'Add 0\nSlide\nlate',
      'Add 1\nSlide\nlate',
      'Add 1\nSlide\nlate',
      'Add 2\nSlide\nlate',
    ]);
  });
});

import { z } from 'zod';
import type { Action, ActionResult } from '../../benchmarks/contract.ts';
import { actionResultSchema } from '../../benchmarks/schemas.ts';
import { clickMouse, insertText, moveMouse, pressNamedKey } from './input.ts';
import type { Tab } from './tab.ts';

type Refusal = Extract<ActionResult, { ok: false }>;
type ActionOf<T extends Action['tool']> = Extract<Action, { tool: T }>;

/** The page's answers: a refusal is the action's result, anything else says how to go on. */
const refusalSchema = z.strictObject({
  ok: z.literal(false),
  code: z.literal(['stale', 'covered', 'disabled', 'not-editable', 'no-such-option', 'not-found', 'invalid']),
  message: z.string(),
});
const pointSchema = z.object({ ok: z.literal(true), x: z.number(), y: z.number() });
const aimedSchema = z.union([pointSchema, refusalSchema]);
const fieldSchema = z.union([
  z.object({ ok: z.literal(true), entry: z.enum(['keys', 'set']) }),
  refusalSchema,
]);
const positionSchema = z.union([
  z.object({ ok: z.literal(true), state: z.string().nullable(), radio: z.boolean() }),
  refusalSchema,
]);

/** Less is a click with a shaky hand. */
const DRAG_START_PX = 6;

const DONE: ActionResult = { ok: true, note: null };

function refuse(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}

/** What an action may touch beyond the tab that it runs in. */
export interface Reach {
  /** Canonical hosts of the task. */
  readonly allowedHosts: readonly string[];
  /** Limit of one page load, in ms. */
  readonly navigationLimitMs: number;
  switchTab(index: number): Promise<ActionResult>;
}

/**
 * Carries one action out and tells what became of it. Everything that a policy can do wrong is a result; only a
 * browser that fails throws. Does not wait for the page to settle.
 */
export async function performAction(tab: Tab, action: Action, reach: Reach): Promise<ActionResult> {
  switch (action.tool) {
    case 'click':
      return click(tab, action);
    case 'type':
      return type(tab, action);
    case 'select':
      return actionResultSchema.parse(await tab.world.call('select', action.ref, action.option));
    case 'check':
      return check(tab, action);
    case 'press':
      return press(tab, action.key);
    case 'scroll':
      return actionResultSchema.parse(await tab.world.call('scroll', action.ref, action.direction));
    case 'hover':
      return hover(tab, action.ref);
    case 'drag':
      return drag(tab, action);
    case 'back':
      return back(tab, reach);
    case 'navigate':
      return navigate(tab, action.url, reach);
    case 'tab':
      return reach.switchTab(action.index);
    case 'find':
      return actionResultSchema.parse(await tab.world.call('find', action.text));
    case 'wait':
    case 'stop':
    case 'infeasible':
      return DONE;
    default:
      return action satisfies never;
  }
}

// ---- mouse -------------------------------------------------------------------------------------------------

async function aim(tab: Tab, ref: string): Promise<z.infer<typeof aimedSchema>> {
  return aimedSchema.parse(await tab.world.call('aim', ref));
}

async function click(tab: Tab, { ref, kind }: ActionOf<'click'>): Promise<ActionResult> {
  const hovered = await hover(tab, ref);
  if (!hovered.ok) return hovered;
  // What appears under the mouse may have moved the element or cover it now.
  const aimed = await aim(tab, ref);
  if (!aimed.ok) return aimed;
  await clickMouse(tab.cdp, { x: aimed.x, y: aimed.y }, kind);
  return DONE;
}

async function hover(tab: Tab, ref: string): Promise<ActionResult> {
  const aimed = await aim(tab, ref);
  if (!aimed.ok) return aimed;
  await moveMouse(tab.cdp, { x: aimed.x, y: aimed.y });
  return DONE;
}

/** Playwright's mouse, because it knows how to lead the browser's own drag and drop. */
async function drag(tab: Tab, { ref, toRef }: ActionOf<'drag'>): Promise<ActionResult> {
  const to = await aim(tab, toRef);
  if (!to.ok) return to;
  const from = await aim(tab, ref);
  if (!from.ok) return from;
  const { mouse } = tab.page;
  await mouse.move(from.x, from.y);
  await mouse.down();
  // The drag begins here, before the source can be moved away from under the mouse.
  await mouse.move(from.x + DRAG_START_PX, from.y + DRAG_START_PX, { steps: 2 });
  // Bringing the source on the screen may have moved the target.
  const now = await aim(tab, toRef);
  const end = now.ok ? now : to;
  await mouse.move(end.x, end.y, { steps: 4 });
  await mouse.up();
  return now.ok ? DONE : now;
}

async function check(tab: Tab, { ref, checked }: ActionOf<'check'>): Promise<ActionResult> {
  const position = positionSchema.parse(await tab.world.call('position', ref));
  if (!position.ok) return position;
  const { state, radio } = position;
  if (state === null) return refuse('invalid', `${ref} is nothing that can be checked.`);
  if (isOn(state) === checked) return { ok: true, note: `It was already ${state}.` };
  if (radio && !checked)
    return refuse('invalid', `${ref} is a radio button: check another one of its group.`);
  return click(tab, { tool: 'click', ref, kind: 'single' });
}

function isOn(state: string): boolean {
  return state === 'checked' || state === 'on' || state === 'selected';
}

// ---- keyboard ----------------------------------------------------------------------------------------------

async function type(tab: Tab, action: ActionOf<'type'>): Promise<ActionResult> {
  const field = fieldSchema.parse(await tab.world.call('field', action.ref));
  if (!field.ok) return field;
  const typed = field.entry === 'set' ? await setField(tab, action) : await typeKeys(tab, action);
  if (!typed.ok || !action.submit) return typed;
  await pressNamedKey(tab.cdp, 'Enter');
  return DONE;
}

async function setField(tab: Tab, { ref, text }: ActionOf<'type'>): Promise<ActionResult> {
  return actionResultSchema.parse(await tab.world.call('setField', ref, text));
}

async function typeKeys(tab: Tab, { ref, text, clear }: ActionOf<'type'>): Promise<ActionResult> {
  const clicked = await click(tab, { tool: 'click', ref, kind: 'single' });
  if (!clicked.ok) return clicked;
  const caret = actionResultSchema.parse(await tab.world.call('takeCaret', ref, clear));
  if (!caret.ok) return caret;
  if (text !== '') await insertText(tab.cdp, text);
  else if (clear) await pressNamedKey(tab.cdp, 'Delete');
  return DONE;
}

async function press(tab: Tab, key: string): Promise<ActionResult> {
  try {
    await tab.page.keyboard.press(key);
    return DONE;
  } catch (error) {
    if (error instanceof Error && error.message.includes('Unknown key')) {
      return refuse('invalid', `There is no key "${key}". Examples: Enter, Escape, ArrowDown, Control+a.`);
    }
    throw error;
  }
}

// ---- navigation --------------------------------------------------------------------------------------------

async function back(tab: Tab, { navigationLimitMs }: Reach): Promise<ActionResult> {
  const { currentIndex, entries } = await tab.cdp.send('Page.getNavigationHistory');
  const earlier = entries.slice(0, currentIndex).findLast(({ url }) => url.startsWith('http'));
  if (earlier === undefined) return refuse('invalid', 'There is no page to go back to.');
  return load(earlier.url, () => tab.page.goBack({ waitUntil: 'commit', timeout: navigationLimitMs }));
}

async function navigate(tab: Tab, address: string, reach: Reach): Promise<ActionResult> {
  const url = URL.canParse(address, tab.page.url()) ? new URL(address, tab.page.url()) : null;
  if (url === null) return refuse('invalid', `"${address}" is no address.`);
  if (!isAllowed(url, reach.allowedHosts)) {
    const hosts = reach.allowedHosts.join(', ');
    return refuse('not-allowed', `${url.href} is outside this task. It may visit: ${hosts}.`);
  }
  return load(url.href, () =>
    tab.page.goto(url.href, { waitUntil: 'commit', timeout: reach.navigationLimitMs }),
  );
}

function isAllowed(url: URL, allowedHosts: readonly string[]): boolean {
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && allowedHosts.includes(url.host);
}

/** A page that cannot be loaded is an answer to the policy; a browser that died is not. */
async function load(url: string, go: () => Promise<unknown>): Promise<ActionResult> {
  try {
    await go();
    return DONE;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const network = /net::(ERR_\w+)/.exec(message)?.[1];
    if (network === 'ERR_ABORTED' || message.includes('Download is starting'))
      return { ok: true, note: `${url} sent nothing to show.` };
    if (network !== undefined) return refuse('not-found', `${url} could not be opened (${network}).`);
    throw error;
  }
}

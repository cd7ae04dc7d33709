import type { CDPSession } from 'playwright-core';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Real mouse and text input, sent without waiting in between: the browser keeps the order, and one wait at the end
 * is enough. Each promise resolves when the page has handled the last event.
 */
export async function moveMouse(cdp: CDPSession, point: Point): Promise<void> {
  await cdp.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
}

export async function clickMouse(
  cdp: CDPSession,
  point: Point,
  kind: 'single' | 'double' | 'right',
): Promise<void> {
  const button = kind === 'right' ? 'right' : 'left';
  const sent: Promise<unknown>[] = [moveMouse(cdp, point)];
  for (let clickCount = 1; clickCount <= (kind === 'double' ? 2 : 1); clickCount += 1) {
    for (const type of ['mousePressed', 'mouseReleased'] as const) {
      const buttons = type === 'mousePressed' ? (kind === 'right' ? 2 : 1) : 0;
      sent.push(cdp.send('Input.dispatchMouseEvent', { type, ...point, button, buttons, clickCount }));
    }
  }
  await Promise.all(sent);
}

/**
 * Replaces the selection by a text in one go, between the key events of its last character, so that listeners of
 * keydown and keyup hear of it too, with the whole text in the field.
 */
export async function insertText(cdp: CDPSession, text: string): Promise<void> {
  const key = [...text].at(-1) ?? '';
  await Promise.all([
    cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key }),
    cdp.send('Input.insertText', { text }),
    cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', key }),
  ]);
}

const NAMED_KEYS = {
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Delete: { key: 'Delete', code: 'Delete', windowsVirtualKeyCode: 46 },
} as const;

export async function pressNamedKey(cdp: CDPSession, name: keyof typeof NAMED_KEYS): Promise<void> {
  const key = NAMED_KEYS[name];
  await Promise.all([
    cdp.send('Input.dispatchKeyEvent', { type: 'keyDown', ...key }),
    cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key }),
  ]);
}

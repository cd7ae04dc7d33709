import { expect, test } from 'vitest';
import type { Action } from '../../../benchmarks/contract.ts';
import { actionText, stepText } from '../../../models/embedded/trace-text.ts';
import { click, target, trace } from './support.ts';

test('a trace is numbered lines that say what was done to what, where, and what came of it', () => {
  const steps = trace(
    { action: click('e4'), target: target('link', 'Compose'), urlAfter: 'http://mail.sandbox/compose' },
    {
      action: { tool: 'type', ref: 'e5', text: 'Hi "you"', clear: true, submit: false },
      target: target('textbox', 'Subject', 'Subject'),
      urlBefore: 'http://mail.sandbox/compose',
      urlAfter: 'http://mail.sandbox/compose',
    },
    {
      action: click('e6'),
      target: target('button', 'Send', 'Message form'),
      result: { ok: false, code: 'covered', message: 'News' },
    },
    { action: { tool: 'stop', answer: '42' } },
  );
  expect(steps.map(stepText)).toEqual([
    '1. click link "Compose" on mail.sandbox/inbox, then mail.sandbox/compose',
    '2. type "Hi \\"you\\"" into textbox "Subject" on mail.sandbox/compose',
    '3. click button "Send" in "Message form" on mail.sandbox/inbox [covered: News]',
    '4. stop with the answer "42" on mail.sandbox/inbox',
  ]);
});

test('every tool has words, and none of them shows a ref', () => {
  const actions: Action[] = [
    { tool: 'click', ref: 'e77', kind: 'double' },
    { tool: 'type', ref: 'e77', text: 'x', clear: true, submit: true },
    { tool: 'select', ref: 'e77', option: 'Travel' },
    { tool: 'check', ref: 'e77', checked: false },
    { tool: 'press', key: 'Escape' },
    { tool: 'scroll', ref: null, direction: 'down' },
    { tool: 'hover', ref: 'e77' },
    { tool: 'drag', ref: 'e77', toRef: 'e77' },
    { tool: 'back' },
    { tool: 'navigate', url: 'http://mail.sandbox/inbox' },
    { tool: 'tab', index: 2 },
    { tool: 'find', text: 'needle' },
    { tool: 'wait' },
    { tool: 'stop', answer: null },
    { tool: 'infeasible', reason: 'no such email' },
  ];
  const texts = actions.map((action) => actionText(action, target('button', 'Name')));
  expect(new Set(texts).size).toBe(actions.length);
  for (const text of texts) expect(text).not.toContain('e77');
  expect(texts[0]).toBe('double click button "Name"');
});

test('long surroundings are cut', () => {
  const long = target('button', 'Star', 'x'.repeat(500));
  expect(actionText(click('e1'), long).length).toBeLessThan(100);
});

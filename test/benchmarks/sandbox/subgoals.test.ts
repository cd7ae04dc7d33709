import { expect, test } from 'vitest';
import type { Action, ActionTarget, TraceStep } from '../../../benchmarks/contract.ts';
import { carriesOut, press, select, tick } from '../../../benchmarks/sandbox/kit/pattern.ts';
import {
  answeredOn,
  located,
  mistaken,
  moved,
  opened,
  stoppedAfter,
} from '../../../benchmarks/sandbox/kit/subgoals.ts';

const INBOX = 'http://mail.sandbox/inbox';
const MESSAGE = 'http://mail.sandbox/message/12';
const CLICK: Action = { tool: 'click', ref: 'e1', kind: 'single' };
const STOP: Action = { tool: 'stop', answer: null };
const star = press('Star', { near: 'Team lunch', page: '/message/12' });

const button = (name: string, context: string): ActionTarget => ({ role: 'button', name, context });
const step = (
  index: number,
  action: Action,
  target: ActionTarget | null = null,
  parts: Partial<TraceStep> = {},
) => ({
  index,
  urlBefore: INBOX,
  urlAfter: INBOX,
  action,
  target,
  result: { ok: true, note: null } as const,
  ...parts,
});

test('the same button in another row is another element', () => {
  expect(carriesOut(step(0, CLICK, button('Star', 'Team lunch Dana Reyes')), star)).toBe(true);
  expect(carriesOut(step(0, CLICK, button('Star', 'Team retreat Dana Reyes')), star)).toBe(false);
  expect(carriesOut(step(0, CLICK, button('Unstar', 'Team lunch Dana Reyes')), star)).toBe(false);
});

test('on the page of the thing itself the row is not needed, on the page of another it is', () => {
  expect(carriesOut(step(0, CLICK, button('Star', ''), { urlBefore: MESSAGE }), star)).toBe(true);
  expect(carriesOut(step(0, CLICK, button('Star', ''), { urlBefore: `${INBOX}/12` }), star)).toBe(false);
});

test('an action that failed carried nothing out', () => {
  const result = { ok: false, code: 'covered', message: 'A dialog covers it.' } as const;
  expect(carriesOut(step(0, CLICK, button('Star', 'Team lunch'), { result }), star)).toBe(false);
});

test('a name also stands for a name with its current choice, case and spaces do not matter', () => {
  const priority = press('Priority');
  expect(carriesOut(step(0, CLICK, button(' priority:  High', '')), priority)).toBe(true);
  expect(carriesOut(step(0, CLICK, button('Priority list', '')), priority)).toBe(false);
});

test('ticking works by check and by click, unticking does not count', () => {
  const terms = tick('I accept the terms');
  const target = { role: 'checkbox', name: 'I accept the terms', context: '' };
  expect(carriesOut(step(0, CLICK, target), terms)).toBe(true);
  expect(carriesOut(step(0, { tool: 'check', ref: 'e1', checked: true }, target), terms)).toBe(true);
  expect(carriesOut(step(0, { tool: 'check', ref: 'e1', checked: false }, target), terms)).toBe(false);
});

test('another option of the same list is another move', () => {
  const target = { role: 'combobox', name: 'Label', context: '' };
  const choice = select('Label', 'Finance');
  expect(carriesOut(step(0, { tool: 'select', ref: 'e1', option: 'finance' }, target), choice)).toBe(true);
  expect(carriesOut(step(0, { tool: 'select', ref: 'e1', option: 'Travel' }, target), choice)).toBe(false);
});

test('a subgoal is dated by the first step that reached it', () => {
  const pressed = moved('pressed', 'pressed Star', 1, star);
  const hit = step(2, CLICK, button('Star', 'Team lunch'));
  expect(pressed.reachedAt([step(0, STOP), step(1, CLICK), hit, { ...hit, index: 3 }], null)).toBe(2);
  expect(pressed.reachedAt([], null)).toBeNull();
  const arrived = step(4, CLICK, null, { urlAfter: `${MESSAGE}?from=inbox` });
  expect(opened('opened', 'opened it', 1, '/message/12').reachedAt([arrived], null)).toBe(4);
});

test('a thing is located by its page, its row or a search for it, not by a search for something else', () => {
  const found = located(1, 'Team lunch', '/message/12');
  const search = (text: string) =>
    step(
      0,
      { tool: 'type', ref: 'e1', text, clear: true, submit: true },
      { role: 'searchbox', name: 'Search', context: '' },
    );
  expect(found.reachedAt([search('team')], null)).toBe(0);
  expect(found.reachedAt([search('retreat')], null)).toBeNull();
  expect(found.reachedAt([search('')], null)).toBeNull();
  expect(found.reachedAt([step(0, CLICK, button('Archive', 'Team lunch, Dana'))], null)).toBe(0);
});

test('stopping counts only right after the last move of the work', () => {
  const stopped = stoppedAfter(1, star);
  const work = step(0, CLICK, button('Star', 'Team lunch'));
  const detour = step(1, CLICK, button('Star', 'Team retreat'));
  expect(stopped.reachedAt([work, step(1, STOP)], null)).toBe(1);
  expect(stopped.reachedAt([work, detour, step(2, STOP)], null)).toBeNull();
  expect(stopped.reachedAt([work], null)).toBeNull();
  expect(stopped.reachedAt([step(0, STOP)], null)).toBeNull();
});

test('an answer counts where it can be read, whatever it says', () => {
  const answered = answeredOn(1, '/message/12');
  const stop = { tool: 'stop', answer: 'wrong' } as const;
  expect(answered.reachedAt([step(0, stop, null, { urlBefore: MESSAGE })], 'wrong')).toBe(0);
  expect(answered.reachedAt([step(0, stop)], 'wrong')).toBeNull();
  expect(answered.reachedAt([step(0, STOP, null, { urlBefore: MESSAGE })], null)).toBeNull();
});

test('a mistake weighs against the rollout', () => {
  const mistake = mistaken('Archive all');
  expect(mistake.weight).toBeLessThan(0);
  expect(mistake.reachedAt([step(0, CLICK, button('Archive all', ''))], null)).toBe(0);
  expect(mistake.reachedAt([step(0, CLICK, button('Archive', ''))], null)).toBeNull();
});

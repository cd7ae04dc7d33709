import type { ActionTarget, TraceStep } from '../../contract.ts';

/**
 * Says which element is meant as a person would: by role, name and surroundings, never by markup.
 * The oracle looks for it on the page, subgoals look for it in the trace.
 */
export interface ElementPattern {
  /** Null for any role. */
  readonly role: string | null;
  /** The whole name, or what stands before its colon (`Priority` also means `Priority: High`). */
  readonly name: string;
  /** Text of the row or card that holds it; null where the name is enough. */
  readonly near: string | null;
  /** Path of the page that is about the thing itself, where `near` need not hold; null if there is none. */
  readonly page: string | null;
}

export type Move =
  | { readonly tool: 'click'; readonly on: ElementPattern }
  | { readonly tool: 'type'; readonly on: ElementPattern; readonly text: string; readonly submit: boolean }
  | { readonly tool: 'select'; readonly on: ElementPattern; readonly option: string }
  | { readonly tool: 'check'; readonly on: ElementPattern; readonly checked: boolean };

interface Where {
  readonly near?: string;
  readonly page?: string;
}

function element(role: string | null, name: string, where: Where): ElementPattern {
  return { role, name, near: where.near ?? null, page: where.page ?? null };
}

export const press = (name: string, where: Where = {}): Move => ({
  tool: 'click',
  on: element('button', name, where),
});

export const follow = (name: string, where: Where = {}): Move => ({
  tool: 'click',
  on: element('link', name, where),
});

export const pick = (name: string, where: Where = {}): Move => ({
  tool: 'click',
  on: element('option', name, where),
});

export const choose = (name: string, where: Where = {}): Move => ({
  tool: 'click',
  on: element('radio', name, where),
});

export const tick = (name: string, where: Where = {}): Move => ({
  tool: 'check',
  on: element('checkbox', name, where),
  checked: true,
});

export const fill = (name: string, text: string): Move => ({
  tool: 'type',
  on: element(null, name, {}),
  text,
  submit: false,
});

export const searchFor = (text: string): Move => ({
  tool: 'type',
  on: element('searchbox', 'Search', {}),
  text,
  submit: true,
});

export const select = (name: string, option: string, where: Where = {}): Move => ({
  tool: 'select',
  on: element('combobox', name, where),
  option,
});

const fold = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();

export function samePath(url: string, path: string): boolean {
  return URL.canParse(url) && new URL(url).pathname === path;
}

/** `url`: the page on which the element stands. */
export function isMeant(pattern: ElementPattern, target: ActionTarget, url: string): boolean {
  if (pattern.role !== null && pattern.role !== target.role) return false;
  const name = fold(target.name);
  const wanted = fold(pattern.name);
  if (name !== wanted && !name.startsWith(`${wanted}:`)) return false;
  if (pattern.page !== null && samePath(url, pattern.page)) return true;
  return pattern.near === null || fold(target.context).includes(fold(pattern.near));
}

/** True when the step carried the move out. Pressing a checkbox or radio button counts as checking it. */
export function carriesOut(step: TraceStep, move: Move): boolean {
  const { action, target } = step;
  if (!step.result.ok || target === null || !isMeant(move.on, target, step.urlBefore)) return false;
  switch (move.tool) {
    case 'click':
      return action.tool === 'click' || (action.tool === 'check' && action.checked);
    case 'type':
      return action.tool === 'type' && fold(action.text) === fold(move.text);
    case 'select':
      return action.tool === 'select' && fold(action.option) === fold(move.option);
    case 'check':
      return action.tool === 'click' || (action.tool === 'check' && action.checked === move.checked);
  }
}

/** Compact, numbered lines of a trace, as people, judges and prompts read it. */
import type { Action, ActionTarget, TraceStep } from '../../benchmarks/contract.ts';

const maxContext = 60;

/** `3. click button "Archive" in "Invoice for office move" on mail.sandbox/inbox`. */
export function stepText({ index, urlBefore, urlAfter, action, target, result }: TraceStep): string {
  const moved = urlAfter === urlBefore ? '' : `, then ${pageText(urlAfter)}`;
  const failed = result.ok ? '' : ` [${result.code}: ${result.message}]`;
  return `${index + 1}. ${actionText(action, target)} on ${pageText(urlBefore)}${moved}${failed}`;
}

/** The tool call without its refs, which mean nothing once the page is gone. */
export function actionText(action: Action, target: ActionTarget | null): string {
  const on = target === null ? '' : ` ${targetText(target)}`;
  switch (action.tool) {
    case 'click':
      return `${action.kind === 'single' ? '' : `${action.kind} `}click${on}`;
    case 'type':
      return `type ${quote(action.text)} into${on}${action.submit ? ' and submit' : ''}`;
    case 'select':
      return `select ${quote(action.option)} in${on}`;
    case 'check':
      return `${action.checked ? 'check' : 'uncheck'}${on}`;
    case 'press':
      return `press ${action.key}`;
    case 'scroll':
      return `scroll ${action.direction}${on}`;
    case 'hover':
    case 'drag':
      return `${action.tool}${on}`;
    case 'back':
    case 'wait':
      return action.tool;
    case 'navigate':
      return `navigate to ${pageText(action.url)}`;
    case 'tab':
      return `switch to tab ${action.index}`;
    case 'find':
      return `find ${quote(action.text)}`;
    case 'stop':
      return action.answer === null ? 'stop' : `stop with the answer ${quote(action.answer)}`;
    case 'infeasible':
      return `give up: ${action.reason}`;
  }
}

function targetText({ role, name, context }: ActionTarget): string {
  const around = context === '' || context === name ? '' : ` in ${quote(shorten(context))}`;
  return `${role} ${quote(name)}${around}`;
}

function pageText(url: string): string {
  return URL.canParse(url) ? url.replace(/^\w+:\/\//, '').replace(/\/$/, '') : url;
}

const quote = (text: string): string => JSON.stringify(text);

const shorten = (text: string): string =>
  text.length <= maxContext ? text : `${text.slice(0, maxContext - 1)}…`;

/** Pages and traces as models read them. All of it is a stranger's text: it goes between fences. */
import type { LeftOutRows, Observation, ObservedElement, TraceStep } from '../../benchmarks/contract.ts';
import type { SeenAtState, SeenStep } from '../../workflows/method/types.ts';
import { stepText } from '../embedded/trace-text.ts';

/** One numbered line a step; what was typed or answered cannot begin a line of its own. */
export function traceLines(steps: readonly TraceStep[]): readonly string[] {
  return steps.map((step) => oneLine(stepText(step)));
}

export function traceText(steps: readonly TraceStep[]): string {
  return traceLines(steps).join('\n') || '(no action yet)';
}

/** Address, tabs, elements with their refs, then the text; at most `limit` characters, elements first. */
export function observationText(observation: Observation, limit: number): string {
  const { url, title, tabs, elements, text, scroll, leftOut = [] } = observation;
  const tabLines = tabs.map(
    ({ index, active, title: name, url: at }) =>
      `Tab ${index}${active ? ' (active)' : ''}: ${quote(name)} ${at}`,
  );
  const below = Math.max(0, Math.round(scroll.heightPx - scroll.topPx - scroll.viewportPx));
  const head = [
    `URL: ${oneLine(url)}`,
    `Title: ${oneLine(title)}`,
    ...(tabs.length > 1 ? tabLines.map(oneLine) : []),
    `Scrolled ${Math.round(scroll.topPx)} px, ${below} px below`,
    ...leftOut.slice(0, 10).map(leftOutLine),
  ];
  return page([...head, '', 'Elements:'], elements.map(elementLine), text, limit);
}

/** What METHOD 1.4 shows of a URL state. */
export function seenText({ pages, steps, elements, text, answer }: SeenAtState, limit: number): string {
  const head = [
    'Actions so far:',
    ...steps.map((step, index) => `${index + 1}. ${seenStepLine(step)}`),
    '',
    `Page: ${pages.at(-1)?.canonical ?? ''}`,
    ...(answer === null ? [] : [`Final answer given here: ${quote(answer)}`]),
    '',
    'Elements:',
  ];
  const lines = elements.map(({ role, name, value, text: beside }) =>
    [
      role,
      quote(name),
      ...(value === null ? [] : [`value=${quote(value)}`]),
      ...inContext(beside, name),
    ].join(' '),
  );
  return page(head, lines, text, limit);
}

/** Head lines are kept; elements and text share what the limit leaves, and tell how much of them is missing. */
function page(head: readonly string[], elements: readonly string[], text: string, limit: number): string {
  const start = head.join('\n');
  const room = Math.max(0, limit - start.length);
  const shown = cutLines(elements, Math.max(room / 2, room - text.length));
  const rest = Math.max(0, room - shown.length);
  return `${start}\n${shown || '(none)'}\n\nText:\n${shorten(text, rest) || '(none)'}`;
}

function cutLines(lines: readonly string[], limit: number): string {
  let length = 0;
  const fitting = lines.findIndex((line) => {
    length += line.length + 1;
    return length > limit;
  });
  if (fitting === -1) return lines.join('\n');
  return [...lines.slice(0, fitting), `(${lines.length - fitting} more elements)`].join('\n');
}

export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()} (${text.length - Math.floor(limit)} more characters)`;
}

function elementLine({ ref, role, name, value, options, states, ...around }: ObservedElement): string {
  return [
    `[${ref}] ${role} ${quote(name)}`,
    ...(value === null ? [] : [`value=${quote(value)}`]),
    ...(options.length === 0 ? [] : [`options=${JSON.stringify(options)}`]),
    ...(states.length === 0 ? [] : [`(${states.join(', ')})`]),
    ...inContext(around.context, name),
    ...(around.heading === '' ? [] : [`under ${quote(around.heading)}`]),
    ...(around.coveredBy === null ? [] : [`covered by ${quote(around.coveredBy)}`]),
  ].join(' ');
}

function leftOutLine({ like, heading, rows, leftOut }: LeftOutRows): string {
  const under = heading === '' ? '' : ` under ${quote(heading)}`;
  return `Left out: ${leftOut} of ${rows} rows like ${quote(like)}${under}; find or scroll to reach them`;
}

function inContext(context: string, name: string): readonly string[] {
  return context === '' || context === name ? [] : [`in ${quote(context)}`];
}

function seenStepLine({ tool, target, value, ok, url }: SeenStep): string {
  const on = target === null ? '' : ` ${target.role} ${quote(target.name)}`;
  const carried = value === null ? '' : ` ${quote(value)}`;
  return oneLine(`${tool}${on}${carried} on ${url}${ok ? '' : ' [failed]'}`);
}

const quote = (text: string): string => JSON.stringify(text);

const oneLine = (text: string): string => text.replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, ' ');

/** How one candidate tool call relates to the task, the page and the past: the other side of the score. */
import type { Action } from '../../benchmarks/contract.ts';
import type { Candidate } from './candidates.ts';
import { featureSpace } from './features.ts';
import { actionKey, type ElementReading, type PageReading, targetKey } from './page-reading.ts';
import type { ActiveFeatures } from './scoring.ts';
import type { TaskReading, Term } from './task-reading.ts';
import { stem, verbGroups } from './words.ts';

export const candidateFeatureSpace = featureSpace([
  'click-link',
  'click-button',
  'click-option',
  'click-other',
  'type',
  'type-submit',
  'select',
  'check',
  'uncheck',
  'press',
  'scroll-down',
  'scroll-up',
  'back',
  'navigate',
  'tab',
  'find',
  'wait',
  'stop',
  'answer',
  'infeasible',
  'pointer',
  // The words of the thing itself.
  'name-is-term',
  'name-has-term',
  'name-all-asked',
  'name-some-asked',
  'name-none-asked',
  'name-empty',
  // Its surroundings.
  'context-has-term',
  'context-most-terms',
  'context-some-asked',
  'context-most-asked',
  'heading-has-term',
  'heading-asked',
  // What its name says it does.
  ...verbGroups.map((group) => `does-${group}` as const),
  'does-asked',
  'does-nothing-known',
  'destroys-unasked',
  // Its state.
  'in-dialog',
  'covered',
  'offscreen',
  'current',
  'expandable',
  'expanded',
  // What was done before.
  'done-before',
  'done-often',
  'done-last',
  'failed-before',
  'touched-before',
  // What is entered where.
  'field-search',
  'field-empty',
  'field-has-term',
  'field-fits-term',
  'field-fits-kind',
  'field-asked',
  'term-used',
  'term-next',
  'term-visible',
  'term-email',
  'term-date',
  'term-number',
  'term-quoted',
  'term-name',
  'option-fits-term',
  // What is answered.
  'answer-email',
  'answer-date',
  'answer-money',
  'answer-number',
  'answer-name',
  'answer-kind-asked',
  'answer-label-asked',
  'answer-label-best',
  'answer-near-term',
]);

type Flags = Parameters<typeof candidateFeatureSpace.encode>[0];

export function candidateFeatures(
  candidates: readonly Candidate[],
  reading: TaskReading,
  page: PageReading,
): ActiveFeatures[] {
  const bestLabel = Math.max(0, ...candidates.map(({ answer }) => answer?.label.asked ?? 0));
  return candidates.map((candidate) =>
    candidateFeatureSpace.encode({
      ...toolFlags(candidate.action, candidate.on),
      ...nameFlags(candidate),
      ...(candidate.on === null ? {} : elementFlags(candidate.on, reading, page)),
      ...pastFlags(candidate, page),
      ...entryFlags(candidate, reading, page),
      ...answerFlags(candidate, reading, bestLabel),
    }),
  );
}

function toolFlags(action: Action, on: ElementReading | null): Flags {
  switch (action.tool) {
    case 'click':
      return { [clickFlag(on?.element.role ?? '')]: true };
    case 'type':
      return action.submit ? { 'type-submit': true } : { type: true };
    case 'check':
      return action.checked ? { check: true } : { uncheck: true };
    case 'scroll':
      return action.direction === 'down' ? { 'scroll-down': true } : { 'scroll-up': true };
    case 'stop':
      return action.answer === null ? { stop: true } : { answer: true };
    case 'hover':
    case 'drag':
      return { pointer: true };
    case 'select':
    case 'press':
    case 'back':
    case 'navigate':
    case 'tab':
    case 'find':
    case 'wait':
    case 'infeasible':
      return { [action.tool]: true };
  }
}

function clickFlag(role: string): 'click-link' | 'click-button' | 'click-option' | 'click-other' {
  if (role === 'link' || role === 'button') return `click-${role}`;
  return role === 'option' || role === 'radio' || role.startsWith('menuitem')
    ? 'click-option'
    : 'click-other';
}

function nameFlags({ label, action }: Candidate): Flags {
  if (label === null || action.tool === 'stop') return {};
  const { asked, folded, stems, terms } = label;
  return {
    'name-is-term': terms.length > 0 && stems.length === asked,
    'name-has-term': terms.length > 0,
    'name-all-asked': asked > 0 && asked === stems.length,
    'name-some-asked': asked > 0 && asked < stems.length,
    'name-none-asked': asked === 0,
    'name-empty': folded === '',
  };
}

function elementFlags(
  { element, context, heading, verbs }: ElementReading,
  { verbs: asked }: TaskReading,
  page: PageReading,
): Flags {
  const { states } = element;
  const verbsAsked = [...verbs].some((group) => asked.has(group));
  return {
    'context-has-term': context.terms.length > 0,
    'context-most-terms': context.terms.length > 0 && context.terms.length === page.mostContextTerms,
    'context-some-asked': context.asked > 0,
    'context-most-asked': context.asked > 0 && context.asked === page.mostContextAsked,
    'heading-has-term': heading.terms.length > 0,
    'heading-asked': heading.asked > 0,
    ...Object.fromEntries(verbGroups.map((group) => [`does-${group}`, verbs.has(group)])),
    'does-asked': verbsAsked,
    'does-nothing-known': verbs.size === 0,
    'destroys-unasked': verbs.has('delete') && !asked.has('delete'),
    'in-dialog': states.includes('in-dialog'),
    covered: element.coveredBy !== null,
    offscreen: states.includes('offscreen'),
    current: states.includes('selected') || states.includes('checked') || states.includes('on'),
    expandable: states.includes('collapsed'),
    expanded: states.includes('expanded'),
  };
}

function pastFlags({ action, on }: Candidate, { past }: PageReading): Flags {
  const target = on?.element ?? null;
  const key = actionKey(action, target);
  const times = past.done.get(key) ?? 0;
  return {
    'done-before': times > 0,
    'done-often': times > 1,
    'done-last': past.lastKey === key,
    'failed-before': past.failed.has(key),
    'touched-before': target !== null && times === 0 && past.touched.has(targetKey(target)),
  };
}

function entryFlags(
  { action, on, term, label }: Candidate,
  { terms }: TaskReading,
  page: PageReading,
): Flags {
  const entered = term === null ? undefined : terms[term];
  const field: Flags =
    on === null || (action.tool !== 'type' && action.tool !== 'select') ? {} : fieldFlags(on, entered);
  if (entered === undefined || term === null) return field;
  return {
    ...field,
    'term-used': page.usedTerms.has(term),
    'term-next': terms.findIndex((_, index) => !page.usedTerms.has(index)) === term,
    'term-visible': page.visibleTerms.has(term),
    [`term-${entered.kind}`]: true,
    'option-fits-term': action.tool === 'select' && label !== null,
  };
}

const fieldWordsOfKind: Readonly<Record<Term['kind'], ReadonlySet<string>>> = {
  email: stemSet('to recipient email cc'),
  date: stemSet('date due deadline day when'),
  number: stemSet('quantity number amount price count hours points estimate zip code phone'),
  quoted: stemSet('subject message body text title comment note description reply name'),
  name: stemSet('name assignee owner person city company label'),
};

function fieldFlags({ element, name }: ElementReading, entered: Term | undefined): Flags {
  const value = element.value ?? '';
  return {
    'field-search': element.role === 'searchbox',
    'field-empty': value === '',
    'field-has-term': entered !== undefined && value === entered.text,
    'field-fits-term': entered !== undefined && name.stems.some((word) => entered.before.has(word)),
    'field-fits-kind':
      entered !== undefined && name.stems.some((word) => fieldWordsOfKind[entered.kind].has(word)),
    'field-asked': name.asked > 0,
  };
}

function answerFlags({ answer }: Candidate, reading: TaskReading, bestLabel: number): Flags {
  if (answer === null) return {};
  const { kind, label, line } = answer;
  return {
    [`answer-${kind}`]: true,
    'answer-kind-asked':
      (kind === 'money' && reading.asksMoney) ||
      (kind === 'date' && reading.asksWhen) ||
      (kind === 'name' && reading.asksWho) ||
      (kind === 'number' && reading.asksHowMany),
    'answer-label-asked': label.asked > 0,
    'answer-label-best': label.asked > 0 && label.asked === bestLabel,
    'answer-near-term': line.terms.length > 0,
  };
}

function stemSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stem));
}

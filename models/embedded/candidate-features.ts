/** How one candidate tool call relates to the task, the page and the past: the other side of the score. */
import type { Action } from '../../benchmarks/contract.ts';
import { foldText } from '../../workflows/method/task-terms.ts';
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
  'name-has-quoted',
  'leads-to-term',
  // Its surroundings.
  'context-has-term',
  'context-has-quoted',
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
  'field-best-for-term',
  'term-best-for-field',
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
  'answer-label-focus',
  'answer-is-control',
  'answer-near-term',
]);

type Flags = Parameters<typeof candidateFeatureSpace.encode>[0];

export function candidateFeatures(
  candidates: readonly Candidate[],
  reading: TaskReading,
  page: PageReading,
): ActiveFeatures[] {
  const controlNames = new Set(page.elements.map(({ name }) => name.folded));
  const bestLabel = Math.max(0, ...candidates.map(({ answer }) => answer?.label.asked ?? 0));
  return candidates.map((candidate) =>
    candidateFeatureSpace.encode({
      ...toolFlags(candidate.action, candidate.on),
      ...nameFlags(candidate, reading),
      ...(candidate.on === null ? {} : elementFlags(candidate.on, reading, page)),
      ...pastFlags(candidate, page),
      ...entryFlags(candidate, reading, page),
      ...answerFlags(candidate, reading, bestLabel, controlNames),
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

function nameFlags({ label, action }: Candidate, { terms: known }: TaskReading): Flags {
  if (label === null || action.tool === 'stop') return {};
  const { asked, folded, stems, terms } = label;
  return {
    'name-is-term': terms.length > 0 && stems.length === asked,
    'name-has-term': terms.length > 0,
    'name-all-asked': asked > 0 && asked === stems.length,
    'name-some-asked': asked > 0 && asked < stems.length,
    'name-none-asked': asked === 0,
    'name-empty': folded === '',
    'name-has-quoted': terms.some((term) => known[term]?.kind === 'quoted'),
  };
}

function elementFlags(
  { element, context, heading, verbs }: ElementReading,
  { terms, verbs: asked }: TaskReading,
  page: PageReading,
): Flags {
  const { states } = element;
  const fits = page.fits.get(element.ref) ?? [];
  const verbsAsked = [...verbs].some((group) => asked.has(group));
  return {
    'leads-to-term': fits.some((fit, term) => fit > 0 && !page.usedTerms.has(term)),
    'context-has-term': context.terms.length > 0,
    'context-has-quoted': context.terms.some((term) => terms[term]?.kind === 'quoted'),
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
  const isEntry = action.tool === 'type' || action.tool === 'select';
  const entered = term === null ? undefined : terms[term];
  const field = on === null || !isEntry ? {} : fieldFlags(on, entered);
  if (entered === undefined || term === null) return field;
  return {
    ...field,
    ...(on === null ? {} : fitFlags(on, term, page)),
    'term-used': page.usedTerms.has(term),
    'term-next': terms.findIndex((_, index) => !page.usedTerms.has(index)) === term,
    'term-visible': page.visibleTerms.has(term),
    [`term-${entered.kind}`]: true,
    'option-fits-term': action.tool === 'select' && label !== null,
  };
}

/** Which term belongs into which field, told by the words before the terms. */
function fitFlags({ element }: ElementReading, term: number, { fits }: PageReading): Flags {
  const own = fits.get(element.ref) ?? [];
  const fit = own[term] ?? 0;
  const bestField = Math.max(...[...fits.values()].map((others) => others[term] ?? 0));
  return {
    'field-fits-term': fit > 0,
    'field-best-for-term': fit > 0 && fit === bestField,
    'term-best-for-field': fit > 0 && fit === Math.max(...own),
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
    'field-fits-kind':
      entered !== undefined && name.stems.some((word) => fieldWordsOfKind[entered.kind].has(word)),
    'field-asked': name.asked > 0,
  };
}

function answerFlags(
  { answer }: Candidate,
  reading: TaskReading,
  bestLabel: number,
  controlNames: ReadonlySet<string>,
): Flags {
  if (answer === null) return {};
  const { kind, label, line, text } = answer;
  return {
    [`answer-${kind}`]: true,
    'answer-kind-asked':
      (kind === 'money' && reading.asksMoney) ||
      (kind === 'date' && reading.asksWhen) ||
      (kind === 'name' && reading.asksWho) ||
      (kind === 'number' && reading.asksHowMany),
    'answer-label-asked': label.asked > 0,
    'answer-label-best': label.asked > 0 && label.asked === bestLabel,
    'answer-label-focus': reading.focus !== null && label.stems.includes(reading.focus),
    'answer-is-control': controlNames.has(foldText(text)),
    'answer-near-term': line.terms.length > 0,
  };
}

function stemSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stem));
}

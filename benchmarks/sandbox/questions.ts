import type { ActionTaken, Assertion, AssertionNode, Question } from '../../workflows/method/types.ts';

/** A question that a bank starts from; it gets its id and the provenance `seed` when it enters the bank. */
export interface SeedQuestion extends Pick<Question, 'text' | 'scope' | 'polarity'> {
  readonly assertion: Assertion;
}

const TASK_TERM = '$taskTerm';

type Polarity = SeedQuestion['polarity'];

function ask(text: string, scope: string, polarity: Polarity, root: AssertionNode): SeedQuestion {
  return { text, scope, polarity, assertion: { version: 1, root } };
}

function took(tool: string, on: Pick<ActionTaken, 'target' | 'value' | 'ok'> = {}): ActionTaken {
  return { op: 'actionTaken', tool, ...on };
}

function pressedAny(...names: readonly string[]): AssertionNode {
  return { op: 'or', any: names.map((target) => took('click', { target, ok: true })) };
}

function showsAny(...texts: readonly string[]): AssertionNode {
  return { op: 'or', any: texts.map((contains) => ({ op: 'elementText', contains }) as const) };
}

function before(first: ActionTaken, second: ActionTaken): AssertionNode {
  // biome-ignore lint/suspicious/noThenProperty: the name is METHOD's, and an object is no callable then.
  return { op: 'before', first, then: second };
}

/** Most of these say something about progress or failure somewhere. */
const TELLING: readonly SeedQuestion[] = [
  ask('Was a term of the task typed into a field?', '*', 1, took('type', { value: TASK_TERM, ok: true })),
  ask(
    'Was a control or link with a name from the task clicked?',
    '*',
    1,
    took('click', { target: TASK_TERM, ok: true }),
  ),
  ask(
    'Was an option named in the task chosen from a list?',
    '*',
    1,
    took('select', { value: TASK_TERM, ok: true }),
  ),
  ask(
    'Does the page confirm that something was added, saved, sent or set?',
    '*',
    1,
    showsAny(' added.', ' saved.', ' sent.', ' starred.', ' archived.', ' created.', ' placed.', ' set to '),
  ),
  ask('Was an answer given?', '*', 1, { op: 'answerGiven' }),
  ask(
    'Does the page ask for something that is still missing?',
    '*',
    -1,
    showsAny('Enter a', 'Enter the', 'Choose one of', 'first.'),
  ),
  ask('Did an action fail?', '*', -1, {
    op: 'or',
    any: ['click', 'type', 'select', 'check'].map((tool) => took(tool, { ok: false })),
  }),
  ask('Was the same search made more than once?', '*', -1, {
    op: 'count',
    of: took('type', { target: 'Search', ok: true }),
    atLeast: 2,
  }),
  ask('Were twelve or more steps taken?', '*', -1, { op: 'stepsAtLeast', n: 12 }),
  ask(
    'Was a control used that deletes or clears a lot at once?',
    '*',
    -1,
    pressedAny(
      'Archive all',
      'Report spam',
      'Delete account',
      'Empty cart',
      'Clear wishlist',
      'Unsubscribe from everything',
      'Close account',
      'Delete selected',
      'Delete issue',
      'Archive project',
    ),
  ),
  ask(
    'Was a message written before it was sent?',
    'mail.sandbox*',
    1,
    before(took('type', { target: 'Message', ok: true }), took('click', { target: 'Send', ok: true })),
  ),
  ask('Is the recipient still missing?', 'mail.sandbox/compose', -1, {
    op: 'fieldValue',
    label: 'To',
    empty: true,
  }),
  ask('Was the page of a product opened?', 'shop.sandbox*', 1, {
    op: 'urlMatches',
    glob: 'shop.sandbox/product/*',
  }),
  ask(
    'Were the terms accepted before the order was placed?',
    'shop.sandbox/checkout/*',
    1,
    before(took('check', { target: 'I accept the terms' }), took('click', { target: 'Place order' })),
  ),
  ask(
    'Was what had been changed also saved or confirmed?',
    'tracker.sandbox*',
    1,
    pressedAny('Save labels', 'Save changes', 'Set due date', 'Add comment', 'Confirm', 'Create issue'),
  ),
];

/** True of nearly every rollout, of none, or regardless of how well it goes. */
const USELESS: readonly SeedQuestion[] = [
  ask('Is this a page of the sandbox?', '*', 1, { op: 'urlMatches', glob: '*.sandbox/*' }),
  ask('Was at least one step taken?', '*', 1, { op: 'stepsAtLeast', n: 1 }),
  ask('Does the page show a term of the task?', '*', 1, { op: 'elementText', contains: TASK_TERM }),
  ask('Was something dragged?', '*', -1, took('drag')),
  ask('Were the settings visited?', 'mail.sandbox*', 0, { op: 'urlMatches', glob: 'mail.sandbox/settings*' }),
];

/** They mistake a good sign for a bad one, or the other way round. */
const WRONG_WAY_ROUND: readonly SeedQuestion[] = [
  ask(
    'Was a term of the task searched for?',
    '*',
    -1,
    took('type', { target: 'Search', value: TASK_TERM, ok: true }),
  ),
  ask('Was the agent careful enough to go back?', '*', 1, took('back', { ok: true })),
  ask('Does the answer repeat a term of the task?', '*', 1, { op: 'answerContains', text: TASK_TERM }),
];

/**
 * What a first draft of a bank looks like: to tell the useful questions from the useless and the misleading ones
 * is the certifier's work.
 */
export const seedQuestions: readonly SeedQuestion[] = [...TELLING, ...USELESS, ...WRONG_WAY_ROUND];

import { describe, expect, test } from 'vitest';
import type { ProposeRequest, UndiscriminatedPair } from '../../../models/contract.ts';
import { questionText } from '../../../models/embedded/assertion-grammar.ts';
import { createAssertionMiner } from '../../../models/embedded/proposer.ts';
import { evaluateAssertion } from '../../../workflows/method/assertion.ts';
import type { Question, SeenAtState, SeenStep } from '../../../workflows/method/types.ts';
import { never, task } from './support.ts';

const miner = createAssertionMiner();

const step = (parts: Partial<SeenStep> & Pick<SeenStep, 'tool'>): SeenStep => ({
  target: null,
  value: null,
  ok: true,
  url: 'http://mail.sandbox/inbox',
  ...parts,
});
const press = (name: string, ok = true) => step({ tool: 'click', target: { role: 'button', name }, ok });
const typed = (label: string, value: string) =>
  step({ tool: 'type', target: { role: 'textbox', name: label }, value });

const state = (
  instruction: string,
  steps: readonly SeenStep[],
  parts: Partial<SeenAtState> = {},
): SeenAtState => ({
  instruction,
  pages: [{ hostKey: 'mail.sandbox', pathKey: 'mail.sandbox/inbox', canonical: 'mail.sandbox/inbox' }],
  steps,
  elements: [],
  text: '',
  answer: null,
  ...parts,
});

function pair(
  groupId: string,
  subject: string,
  better: (s: string) => SeenStep[],
  worse: (s: string) => SeenStep[],
) {
  const instruction = `Reply to the email "${subject}" with the message "See you".`;
  const trajectory = (judgeScore: number, steps: SeenStep[]) => ({
    ...{ rolloutId: `${groupId}/${judgeScore}`, judgeScore, rationale: '', trace: [] },
    states: [state(instruction, steps)],
  });
  return {
    groupId,
    task: task({ instruction }),
    better: trajectory(0.9, better(subject)),
    worse: trajectory(0.2, worse(subject)),
  } satisfies UndiscriminatedPair;
}

const request = (
  pairs: readonly UndiscriminatedPair[],
  parts: Partial<ProposeRequest> = {},
): ProposeRequest => ({
  pairs,
  uncoveredHosts: [],
  existing: [],
  count: { min: 3, max: 5 },
  seed: ['grow', 1],
  ...parts,
});

/** The better one writes what the task says and sends it; the worse one writes the subject, or gives up. */
const pairs = ['Office move', 'Garden party', 'Annual report'].map((subject, k) =>
  pair(
    `g${k}`,
    subject,
    () => [press('Reply'), typed('Message', 'See you'), press('Send')],
    (name) => [press('Reply'), typed('Search', name), press('Archive all', k === 0)],
  ),
);

const draftsOf = async (given: ProposeRequest) => (await miner.propose(given, never)).drafts;

test('each draft separates most of the pairs in the direction of its polarity', async () => {
  const drafts = await draftsOf(request(pairs));
  expect(drafts.length).toBeGreaterThanOrEqual(3);
  expect(drafts.length).toBeLessThanOrEqual(5);
  for (const { assertion, polarity, text } of drafts) {
    if (assertion === null) throw new Error('the miner proposes assertions only');
    const gaps = pairs.map(({ better, worse }) => {
      const [left, right] = [better, worse].map(({ states }) =>
        states.every((seen) => evaluateAssertion(assertion, seen)) ? 1 : 0,
      );
      return ((left ?? 0) - (right ?? 0)) * polarity;
    });
    expect(
      gaps.reduce((sum: number, gap) => sum + gap, 0),
      text,
    ).toBeGreaterThan(0);
  }
});

test('drafts are questions that a person can read, with a scope and the group they came from', async () => {
  for (const { text, scope, groupId } of await draftsOf(request(pairs))) {
    expect(text).toMatch(/^(Was|Did|Is|Does|Has) .+\?$/);
    expect(['*', 'mail.sandbox']).toContain(scope);
    expect(pairs.map((each) => each.groupId)).toContain(groupId);
  }
});

test('what an assertion leaves open is called something, and never stands in quotes', () => {
  const deed = { op: 'actionTaken' } as const;
  expect(questionText({ op: 'count', of: { ...deed, tool: 'click' }, atLeast: 2 })).toBe(
    'Was something clicked 2 times or more?',
  );
  expect(questionText({ ...deed, tool: 'type', target: 'Search' })).toBe(
    'Was something typed into "Search"?',
  );
  expect(questionText({ ...deed, tool: 'select', value: 'Red' })).toBe('Was "Red" selected?');
  expect(questionText({ ...deed, tool: 'scroll' })).toBe('Was scroll used?');
});

test('no draft names what only one task names', async () => {
  const drafts = JSON.stringify(await draftsOf(request(pairs))).toLowerCase();
  for (const literal of ['office move', 'garden party', 'annual report', 'see you']) {
    expect(drafts).not.toContain(literal);
  }
  expect(drafts).toContain('$taskterm');
});

test('questions that name controls are asked only on their host', async () => {
  for (const { assertion, scope } of await draftsOf(request(pairs))) {
    if (/Send|Message|Archive/.test(JSON.stringify(assertion))) expect(scope).toBe('mail.sandbox');
  }
});

test('what the bank already asks is not proposed again', async () => {
  const [first] = await draftsOf(request(pairs));
  if (first === undefined) throw new Error('nothing proposed');
  const known: Question = {
    ...{ id: 'q_known', version: 1, text: first.text, scope: first.scope, polarity: first.polarity },
    ...{ status: 'candidate', provenance: { source: 'seed' } },
  };
  const drafts = await draftsOf(request(pairs, { existing: [known] }));
  expect(drafts.map(({ text }) => text)).not.toContain(first.text);
  expect(drafts.length).toBeGreaterThan(0);
});

test('drafts do not repeat one another, and the same request gives the same drafts', async () => {
  const drafts = await draftsOf(request(pairs));
  expect(new Set(drafts.map(({ text }) => text)).size).toBe(drafts.length);
  expect(await draftsOf(request(pairs))).toEqual(drafts);
});

describe('the miner proposes nothing', () => {
  test('without pairs', async () => {
    expect(await draftsOf(request([]))).toEqual([]);
  });

  test('for pairs that did exactly the same', async () => {
    const same = pair(
      'g',
      'Office move',
      () => [press('Reply')],
      () => [press('Reply')],
    );
    expect(await draftsOf(request([same]))).toEqual([]);
  });
});

test('a failure that only the worse one met becomes a question of negative polarity', async () => {
  const failing = pair(
    'g',
    'Office move',
    () => [step({ tool: 'scroll' })],
    () => [press('Reply', false)],
  );
  const drafts = await draftsOf(request([failing]));
  expect(drafts).toContainEqual(
    expect.objectContaining({ text: 'Did a click fail?', polarity: -1, scope: '*' }),
  );
});

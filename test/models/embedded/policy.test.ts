import { beforeAll, describe, expect, test } from 'vitest';
import type { PolicyRequest } from '../../../models/contract.ts';
import { createAdapter, encodeAdapter } from '../../../models/embedded/adapter.ts';
import { loadBasePolicy } from '../../../models/embedded/base-policy.ts';
import {
  chooseCandidate,
  createEmbeddedPolicyFactory,
  readRequest,
} from '../../../models/embedded/policy.ts';
import { parseDecisionFeatures } from '../../../models/embedded/prompt.ts';
import { candidateLogProbs } from '../../../models/embedded/scoring.ts';
import { click, element, never, page, target, task, trace } from './support.ts';

const base = loadBasePolicy();
const factory = createEmbeddedPolicyFactory(base);
const row = 'Booking of office move Mei Chen · 2026-03-04 Star Archive';

const request = (parts: Partial<PolicyRequest> = {}): PolicyRequest => ({
  task: task(),
  history: [],
  observation: page([
    element({ ref: 'e1', role: 'searchbox', name: 'Search', value: '' }),
    element({ ref: 'e2', role: 'link', name: 'Booking of office move', context: row }),
    element({ ref: 'e3', role: 'button', name: 'Archive', context: row }),
  ]),
  temperature: 1,
  seed: ['seed', 1],
  ...parts,
});

describe('choosing', () => {
  test('at temperature 0 takes the likeliest, and the first of equals', () => {
    expect(chooseCandidate([-2, -0.5, -3], { temperature: 0, seed: [1] })).toBe(1);
    expect(chooseCandidate([-1, -0.7, -0.7], { temperature: 0, seed: [2] })).toBe(1);
  });

  test('at temperature 1 follows the probabilities', () => {
    const logProbs = [0.5, 0.3, 0.2].map(Math.log);
    const counts = [0, 0, 0];
    for (let k = 0; k < 4000; k++) {
      const chosen = chooseCandidate(logProbs, { temperature: 1, seed: ['draw', k] });
      counts[chosen] = (counts[chosen] ?? 0) + 1;
    }
    // Five standard errors of a share of one half.
    for (const [k, share] of [0.5, 0.3, 0.2].entries()) {
      expect(Math.abs((counts[k] ?? 0) / 4000 - share)).toBeLessThan(0.04);
    }
  });

  test('depends on the seed path alone', () => {
    const logProbs = Array.from({ length: 50 }, () => -Math.log(50));
    const draw = (...seed: (string | number)[]) => chooseCandidate(logProbs, { temperature: 1, seed });
    expect(draw('a', 1)).toBe(draw('a', 1));
    expect(new Set([...Array(20).keys()].map((k) => draw('a', k))).size).toBeGreaterThan(5);
  });
});

test('a decision is one token, the index of its candidate, with its log-probability at temperature 1', async () => {
  const policy = await factory.open(null);
  for (const temperature of [0, 1, 3]) {
    const asked = request({ temperature });
    const decision = await policy.decide(asked, never);
    const { candidates, features } = readRequest(asked);
    const [chosen = -1] = decision.tokenIds;
    expect(decision.tokenIds).toHaveLength(1);
    expect(decision.toolCallSpan).toEqual([0, 1]);
    expect(decision.action).toEqual(candidates[chosen]?.action);
    const logProbs = candidateLogProbs(features, base.shape, base.weights, null);
    expect(decision.logProbs).toEqual([logProbs[chosen]]);
  }
});

test('the prompt is all that the trainer needs to recompute the log-probability', async () => {
  const policy = await factory.open(null);
  const decision = await policy.decide(request(), never);
  const features = parseDecisionFeatures(JSON.parse(JSON.stringify(decision.prompt)));
  const logProbs = candidateLogProbs(features, base.shape, base.weights, null);
  expect(logProbs[decision.tokenIds[0] ?? -1]).toBe(decision.logProbs[0]);
  expect(JSON.stringify(decision.prompt).length).toBeLessThan(4_000);
});

test('probabilities of all candidates sum to one', () => {
  const { features } = readRequest(request());
  const logProbs = candidateLogProbs(features, base.shape, base.weights, null);
  expect(logProbs.reduce((sum, logProb) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 12);
});

test('a fresh adapter leaves the base policy as it is, a trained one changes it', async () => {
  const adapter = createAdapter(base.digest, base.shape, [1]);
  const decide = async (bytes: Uint8Array | null) => (await factory.open(bytes)).decide(request(), never);
  expect(await decide(encodeAdapter(adapter))).toEqual(await decide(null));
  adapter.weights.b.fill(0.1);
  expect((await decide(encodeAdapter(adapter))).logProbs).not.toEqual((await decide(null)).logProbs);
});

test('refs may change between observations without changing the choice', async () => {
  const policy = await factory.open(null);
  const renamed = request().observation.elements.map((each, k) => ({ ...each, ref: `x${k + 40}` }));
  const [first, second] = await Promise.all([
    policy.decide(request(), never),
    policy.decide(request({ observation: page(renamed) }), never),
  ]);
  expect(second.tokenIds).toEqual(first.tokenIds);
  expect(second.prompt).toEqual(first.prompt);
});

describe('candidates', () => {
  const actionsOf = (parts: Partial<PolicyRequest>) =>
    readRequest(request(parts)).candidates.map(({ action }) => action);

  test('type every term of the task into every field, with and without submitting', () => {
    const typed = actionsOf({}).filter(({ tool }) => tool === 'type');
    expect(typed).toHaveLength(4);
    expect(typed).toContainEqual({
      tool: 'type',
      ...{ ref: 'e1', text: 'Booking of office move', clear: true, submit: true },
    });
  });

  test('offer no disabled element and no choice that is already made', () => {
    const observation = page([
      element({ ref: 'e1', role: 'button', name: 'Save', states: ['disabled'] }),
      element({ ref: 'e2', role: 'combobox', name: 'Label', value: 'Urgent', options: ['Urgent', 'Travel'] }),
      element({ ref: 'e3', role: 'checkbox', name: 'Terms', states: ['checked'] }),
    ]);
    const actions = actionsOf({ observation });
    expect(actions.filter((action) => 'ref' in action && action.ref === 'e1')).toEqual([]);
    expect(actions).toContainEqual({ tool: 'select', ref: 'e2', option: 'Travel' });
    expect(actions).not.toContainEqual({ tool: 'select', ref: 'e2', option: 'Urgent' });
    expect(actions).toContainEqual({ tool: 'check', ref: 'e3', checked: false });
    expect(actions).not.toContainEqual({ tool: 'check', ref: 'e3', checked: true });
  });

  test('never run out: an empty page can still be waited for, stopped at and given up', () => {
    const tools = actionsOf({ observation: page([]) }).map(({ tool }) => tool);
    expect(tools).toEqual(expect.arrayContaining(['wait', 'stop', 'infeasible']));
  });

  test('scroll, go back, start over, switch tabs and dismiss only where that leads somewhere', () => {
    const plain = actionsOf({}).map(({ tool }) => tool);
    for (const tool of ['scroll', 'back', 'navigate', 'tab', 'press', 'find'])
      expect(plain).not.toContain(tool);
    const elsewhere = actionsOf({
      history: trace({ action: click('e9'), target: target('link', 'Sent') }),
      observation: page([element({ ref: 'e1', role: 'button', name: 'Close', states: ['in-dialog'] })], {
        url: 'http://mail.sandbox/sent',
        tabs: [
          { index: 0, url: 'http://mail.sandbox/sent', title: 'Sent', active: true },
          { index: 1, url: 'http://mail.sandbox/help', title: 'Help', active: false },
        ],
        scroll: { topPx: 300, heightPx: 2000, viewportPx: 720 },
        truncated: true,
      }),
    });
    expect(elsewhere).toEqual(
      expect.arrayContaining([
        { tool: 'scroll', ref: null, direction: 'down' },
        { tool: 'scroll', ref: null, direction: 'up' },
        { tool: 'back' },
        { tool: 'navigate', url: 'http://mail.sandbox/inbox' },
        { tool: 'tab', index: 1 },
        { tool: 'press', key: 'Escape' },
        { tool: 'find', text: 'Booking of office move' },
      ]),
    );
  });

  test('answers are values of the page, offered only where an answer is asked for', () => {
    const asked = {
      task: task({ expectsAnswer: true, instruction: 'Which total does the email "Office move" name?' }),
      observation: page([], { text: 'Office move\nTotal\n$153.20\nDue date: 2026-04-01\nSee you soon.' }),
    };
    const answers = actionsOf(asked).flatMap((action) => (action.tool === 'stop' ? [action.answer] : []));
    expect(answers).toEqual(expect.arrayContaining(['$153.20', '2026-04-01', null]));
    expect(answers.indexOf('$153.20')).toBe(0);
    expect(answers).not.toContain('Office move');
    const notAsked = actionsOf({ ...asked, task: task() }).filter(({ tool }) => tool === 'stop');
    expect(notAsked).toEqual([{ tool: 'stop', answer: null }]);
  });
});

describe('speed', () => {
  const large = request({
    observation: page(
      Array.from({ length: 40 }, (_, k) =>
        element({
          ref: `e${k}`,
          role: k % 9 === 0 ? 'textbox' : 'button',
          name: `Item ${k}`,
          context: `${row} ${k}`,
        }),
      ),
    ),
  });
  beforeAll(() => {
    for (let k = 0; k < 100; k++) readRequest(large);
  });

  test('reading a page of forty elements takes a few milliseconds of processor time at most', () => {
    const before = process.cpuUsage();
    for (let k = 0; k < 50; k++) readRequest(large);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 50 / 1000).toBeLessThan(10);
  });
});

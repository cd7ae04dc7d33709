import { expect, test } from 'vitest';
import type { Observation, ObservedElement, TraceStep } from '../../../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';

const benchmark = createSandboxBenchmark();
const task = benchmark.tasks.find(({ id }) => id === 'sandbox/mail/star-email-1');
if (task === undefined) throw new Error('there is no task sandbox/mail/star-email-1');
const subject = /"(.+)"/.exec(task.instruction)?.[1] ?? '';

const element = (ref: string, name: string, parts: Partial<ObservedElement> = {}): ObservedElement => ({
  ref,
  role: 'button',
  name,
  value: null,
  options: [],
  states: [],
  context: '',
  heading: 'Inbox',
  coveredBy: null,
  ...parts,
});

const page = (...elements: readonly ObservedElement[]): Observation => ({
  url: task.startUrl,
  title: 'Inbox',
  tabs: [],
  elements,
  text: '',
  scroll: { topPx: 0, heightPx: 720, viewportPx: 720 },
  truncated: false,
});

const step = (action: TraceStep['action'], target: TraceStep['target'] = null): TraceStep => ({
  index: 0,
  urlBefore: task.startUrl,
  urlAfter: task.startUrl,
  action,
  target,
  result: { ok: true, note: null },
});

const wanted = element('e7', 'Star', { context: `${subject} from somebody` });
const other = element('e3', 'Star', { context: 'Something else' });
const clicked = { tool: 'click', ref: 'e7', kind: 'single' } as const;

test('the oracle tells equal buttons apart by their row', () => {
  expect(benchmark.oracleAction(task, page(other, wanted), [])).toEqual(clicked);
});

test('it dismisses what covers the page first', () => {
  const covered = { ...wanted, coveredBy: 'What is new' };
  const dismiss = element('e9', 'Dismiss');
  expect(benchmark.oracleAction(task, page(covered, dismiss), [])).toEqual({ ...clicked, ref: 'e9' });
});

test('it stops when its moves are in the trace, whatever else is there too', () => {
  const detour = step(
    { tool: 'click', ref: 'e3', kind: 'single' },
    { role: 'button', name: 'Star', context: 'Else' },
  );
  const done = step(clicked, { role: 'button', name: 'Star', context: wanted.context });
  expect(benchmark.oracleAction(task, page(other, wanted), [detour])).toEqual(clicked);
  expect(benchmark.oracleAction(task, page(other), [detour, done])).toEqual({ tool: 'stop', answer: null });
});

test('a lost oracle starts over once and gives up after that', () => {
  const startOver = { tool: 'navigate', url: task.startUrl } as const;
  expect(benchmark.oracleAction(task, page(other), [])).toEqual(startOver);
  expect(benchmark.oracleAction(task, page(other), [step(startOver)])).toEqual({
    tool: 'stop',
    answer: null,
  });
});

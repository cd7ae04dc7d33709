import type { Observation, ObservedElement, Task, TraceStep } from '../../../benchmarks/contract.ts';
import type { AdapterShape } from '../../../models/embedded/adapter.ts';
import type { BasePolicy } from '../../../models/embedded/base-policy.ts';
import type { DecisionFeatures } from '../../../models/embedded/scoring.ts';
import { type RandomGenerator, randomGenerator } from '../../../workflows/method/random.ts';

export const never = new AbortController().signal;

export const smallShape: AdapterShape = { tasks: 5, rank: 8, candidates: 7 };

export function smallBase(random: RandomGenerator = randomGenerator(['base'])): BasePolicy {
  const { tasks, candidates } = smallShape;
  const weights = Float64Array.from({ length: tasks * candidates }, () => random.normal());
  return { weights, shape: smallShape, digest: 'a'.repeat(64) };
}

/** A decision among four candidates of random features. */
export function randomDecision(random: RandomGenerator): DecisionFeatures {
  const some = (count: number): number[] => [...Array(count).keys()].filter(() => random.next() < 0.5);
  return {
    task: some(smallShape.tasks),
    candidates: Array.from({ length: 4 }, () => some(smallShape.candidates)),
  };
}

export const task = (parts: Partial<Task> = {}): Task => ({
  id: 'sandbox/mail/example-1',
  benchmark: 'sandbox',
  app: 'mail',
  instruction: 'Archive the email "Booking of office move" from Mei Chen.',
  startUrl: 'http://mail.sandbox/inbox',
  allowedHosts: ['mail.sandbox'],
  difficulty: 'easy',
  split: 'train',
  provenance: { source: 'template', ref: 'example' },
  viewport: { widthPx: 1280, heightPx: 720 },
  maxSteps: 10,
  expectsAnswer: false,
  imageDigests: [],
  ...parts,
});

export const element = (
  parts: Partial<ObservedElement> & Pick<ObservedElement, 'ref' | 'role' | 'name'>,
): ObservedElement => ({
  value: null,
  options: [],
  states: [],
  context: '',
  heading: '',
  coveredBy: null,
  ...parts,
});

export const page = (
  elements: readonly ObservedElement[],
  parts: Partial<Observation> = {},
): Observation => ({
  url: 'http://mail.sandbox/inbox',
  title: 'Inbox - mail',
  tabs: [{ index: 0, url: 'http://mail.sandbox/inbox', title: 'Inbox - mail', active: true }],
  elements,
  text: '',
  scroll: { topPx: 0, heightPx: 720, viewportPx: 720 },
  truncated: false,
  ...parts,
});

/** Numbers the steps in the order given. */
export const trace = (...steps: readonly (Partial<TraceStep> & Pick<TraceStep, 'action'>)[]): TraceStep[] =>
  steps.map((step, index) => ({
    urlBefore: 'http://mail.sandbox/inbox',
    urlAfter: 'http://mail.sandbox/inbox',
    target: null,
    result: { ok: true, note: null },
    ...step,
    index,
  }));

export const click = (ref: string) => ({ tool: 'click', ref, kind: 'single' }) as const;
export const target = (role: string, name: string, context = '') => ({ role, name, context });

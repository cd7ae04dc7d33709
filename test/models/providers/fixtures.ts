/** Endpoints, tasks and pages of the tests of model clients and roles. */
import type { Observation, Task, TraceStep } from '../../../benchmarks/contract.ts';
import type {
  Candidate,
  EndpointChoice,
  JudgedTrace,
  JudgeRequest,
  ModelEndpoint,
  PolicyRequest,
  ProposeRequest,
  Usage,
  VoteRequest,
} from '../../../models/contract.ts';
import type { Question, SeenAtState } from '../../../workflows/method/types.ts';
import type { ModelServer } from '../../support/model-server/server.ts';

export const apiKey = 'sk-test-0123456789abcdef';

/** A gate that lets everybody through and counts. */
export interface CountingGate {
  entered: number;
  left: number;
  lastRetryAfterMs: number | null;
}

export function endpointTo(
  server: Pick<ModelServer, 'baseUrl' | 'origin'>,
  choice: Partial<EndpointChoice> = {},
): ModelEndpoint & { readonly counts: CountingGate } {
  const full: EndpointChoice = { provider: 'openai', model: 'test-model', ...choice };
  const counts: CountingGate = { entered: 0, left: 0, lastRetryAfterMs: null };
  return {
    choice: full,
    baseUrl: full.provider === 'openai' ? server.baseUrl : server.origin,
    apiKey,
    counts,
    gate: {
      enter: async () => {
        counts.entered += 1;
        return {
          leave: async ({ retryAfterMs }) => {
            counts.left += 1;
            counts.lastRetryAfterMs = retryAfterMs;
          },
        };
      },
    },
    priceOf: ({ inputTokens, outputTokens }: Usage) => (inputTokens + outputTokens) / 1000,
  };
}

export const never = new AbortController().signal;

export const task: Task = {
  id: 'sandbox/mail/archive',
  benchmark: 'sandbox',
  app: 'mail',
  instruction: 'Archive the message "Invoice" from Ada',
  startUrl: 'http://mail.sandbox/inbox',
  allowedHosts: ['mail.sandbox'],
  difficulty: 'easy',
  split: 'train',
  provenance: { source: 'template', ref: 'archive' },
  viewport: { widthPx: 1280, heightPx: 800 },
  maxSteps: 12,
  expectsAnswer: false,
  imageDigests: [],
};

export function observation(part: Partial<Observation> = {}): Observation {
  return {
    url: 'http://mail.sandbox/inbox',
    title: 'Inbox',
    tabs: [{ index: 0, url: 'http://mail.sandbox/inbox', title: 'Inbox', active: true }],
    elements: [
      {
        ref: 'e12',
        role: 'button',
        name: 'Archive',
        value: null,
        options: [],
        states: [],
        context: 'Invoice',
        heading: 'Inbox',
        coveredBy: null,
      },
    ],
    text: 'Inbox\nInvoice from Ada',
    scroll: { topPx: 0, heightPx: 800, viewportPx: 800 },
    truncated: false,
    ...part,
  };
}

export function step(index: number, part: Partial<TraceStep> = {}): TraceStep {
  return {
    index,
    urlBefore: 'http://mail.sandbox/inbox',
    urlAfter: 'http://mail.sandbox/inbox',
    action: { tool: 'click', ref: 'e12', kind: 'single' },
    target: { role: 'button', name: 'Archive', context: 'Invoice' },
    result: { ok: true, note: null },
    ...part,
  };
}

export function policyRequest(part: Partial<PolicyRequest> = {}): PolicyRequest {
  return { task, history: [step(0)], observation: observation(), temperature: 0, seed: [1, 0, 2], ...part };
}

export function trace(steps: number, part: Partial<JudgedTrace> = {}): JudgedTrace {
  return {
    steps: Array.from({ length: steps }, (_, index) => step(index)),
    answer: null,
    observationDigests: Array.from({ length: steps + 1 }, (_, index) => `page${index}`),
    ...part,
  };
}

export const judgeRequest = (
  traces: readonly JudgedTrace[] = [trace(2), trace(0), trace(3)],
): JudgeRequest => ({
  task,
  traces,
  repair: null,
});

export const readPage = async (): Promise<Observation> => observation();

export function seen(part: Partial<SeenAtState> = {}): SeenAtState {
  const url = 'mail.sandbox/inbox';
  return {
    instruction: task.instruction,
    pages: [{ hostKey: 'mail.sandbox', pathKey: url, canonical: url }],
    steps: [
      {
        tool: 'click',
        target: { role: 'button', name: 'Archive' },
        value: null,
        ok: true,
        url: 'http://mail.sandbox/inbox',
      },
    ],
    elements: [{ role: 'button', name: 'Archive', value: null, text: 'Invoice' }],
    text: 'Inbox\nInvoice from Ada',
    answer: null,
    ...part,
  };
}

export const question = (text: string): Question => ({
  id: `q_${text.length}`,
  version: 1,
  text,
  scope: '*',
  polarity: 1,
  status: 'candidate',
  provenance: { source: 'seed' },
});

export function candidate(part: Partial<Candidate> = {}): Candidate {
  return {
    sheet: {
      rolloutId: 'r',
      lines: [
        {
          pathKey: 'mail.sandbox/inbox',
          questionId: 'q_1',
          text: 'Was it archived?',
          tier: 'global',
          weight: 0.3,
          lift: 0.3,
          pYes: 0.9,
        },
      ],
      evidence: 0.24,
    },
    trace: [step(0)],
    answer: null,
    finalObservation: observation(),
    ...part,
  };
}

export function voteRequest(vote: number, part: Partial<VoteRequest> = {}): VoteRequest {
  return {
    task,
    incumbent: candidate(),
    challenger: candidate(),
    vote,
    temperature: 0.7,
    seed: [1, vote],
    ...part,
  };
}

export function proposeRequest(part: Partial<ProposeRequest> = {}): ProposeRequest {
  const trajectory = (judgeScore: number) => ({
    rolloutId: `r${judgeScore}`,
    judgeScore,
    rationale: 'Archived the message.',
    trace: [step(0)],
    states: [seen()],
  });
  return {
    pairs: [
      { groupId: 'g1', task, better: trajectory(0.9), worse: trajectory(0.2) },
      { groupId: 'g2', task, better: trajectory(0.8), worse: trajectory(0.1) },
    ],
    uncoveredHosts: ['mail.sandbox'],
    existing: [question('Was an answer given?')],
    count: { min: 3, max: 5 },
    seed: [1, 0, 60],
    ...part,
  };
}

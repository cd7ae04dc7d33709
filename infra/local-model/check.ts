/**
 * `npm run check:local-model`: asks a real model, on this machine, in the roles that need no tools, and prints what
 * came back. The model is far too small to be right; what is checked is that real log-probabilities, real structured
 * output and real streams are read as they are meant.
 */
import { join } from 'node:path';
import type { Observation, Task, TraceStep } from '../../benchmarks/contract.ts';
import type { Candidate, ModelEndpoint } from '../../models/contract.ts';
import {
  createProviderProposer,
  createProviderSelector,
  createProviderSelfVerifier,
} from '../../models/providers/index.ts';
import { loadSettings } from '../../workers/settings.ts';
import type { Question, SeenAtState } from '../../workflows/method/types.ts';
import { ensureLocalModel, localModelName, startLlamaServer } from './llama-server.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const never = new AbortController().signal;

// ---- a small case ------------------------------------------------------------------------------------------

const task: Task = {
  id: 'sandbox/mail/archive',
  benchmark: 'sandbox',
  app: 'mail',
  instruction: 'Archive the message "Invoice" from Ada.',
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

const page = (text: string): Observation => ({
  url: 'http://mail.sandbox/inbox',
  title: 'Inbox',
  tabs: [],
  elements: [],
  text,
  scroll: { topPx: 0, heightPx: 800, viewportPx: 800 },
  truncated: false,
});

const clicked = (name: string): TraceStep => ({
  index: 0,
  urlBefore: 'http://mail.sandbox/inbox',
  urlAfter: 'http://mail.sandbox/inbox',
  action: { tool: 'click', ref: 'e1', kind: 'single' },
  target: { role: 'button', name, context: 'Invoice' },
  result: { ok: true, note: null },
});

const seen = (name: string, text: string): SeenAtState => ({
  instruction: task.instruction,
  pages: [{ hostKey: 'mail.sandbox', pathKey: 'mail.sandbox/inbox', canonical: 'mail.sandbox/inbox' }],
  steps: [
    {
      tool: 'click',
      target: { role: 'button', name },
      value: null,
      ok: true,
      url: 'http://mail.sandbox/inbox',
    },
  ],
  elements: [],
  text,
  answer: null,
});

const question = (text: string, index: number): Question => ({
  id: `q_${index}`,
  version: 1,
  text,
  scope: '*',
  polarity: 1,
  status: 'candidate',
  provenance: { source: 'seed' },
});

const questions = [
  'Was a button named "Archive" clicked?',
  'Does the page say that a message was archived?',
  'Does the page show a flight to Rome?',
].map(question);

const good = { name: 'Archive', text: 'Message archived. Inbox: no messages.' };
const bad = { name: 'Delete', text: 'Message deleted. Inbox: no messages.' };

const candidate = ({ name, text }: typeof good): Candidate => ({
  sheet: { rolloutId: name, lines: [], evidence: 0 },
  trace: [clicked(name)],
  answer: null,
  finalObservation: page(text),
});

const trajectory = (judgeScore: number, { name, text }: typeof good) => ({
  rolloutId: name,
  judgeScore,
  rationale: `It clicked ${name}.`,
  trace: [clicked(name)],
  states: [seen(name, text)],
});

// ---- the three roles ---------------------------------------------------------------------------------------

async function selfVerifier(endpoint: ModelEndpoint): Promise<void> {
  const request = { seen: seen(good.name, good.text), questions };
  // Where a base model is asked to go on with a text, its next word is an answer.
  const choice = { ...endpoint.choice, capabilities: { api: 'completions' } } as const;
  const verifier = createProviderSelfVerifier({ ...endpoint, choice });
  const { answers } = await verifier.answer(request, never);
  for (const [index, { pYes }] of answers.entries()) {
    say(`  P(YES) ${pYes === null ? 'no answer' : pYes.toFixed(4)}  ${questions[index]?.text}`);
  }
  const isReal = answers.some(({ pYes }) => pYes !== null && pYes > 0 && pYes < 1);
  if (!isReal) throw new Error('no answer has a probability strictly between 0 and 1');
}

async function selector(endpoint: ModelEndpoint): Promise<void> {
  const part = createProviderSelector(endpoint);
  for (const vote of [0, 1, 2]) {
    const pair = { incumbent: candidate(bad), challenger: candidate(good) };
    const { label, reason } = await part.vote(
      { task, ...pair, vote, temperature: 0.7, seed: [1, vote] },
      never,
    );
    say(`  vote ${vote}: ${label.padEnd(7)} ${reason}`);
  }
}

async function proposer(endpoint: ModelEndpoint): Promise<void> {
  const pair = { groupId: 'g', task, better: trajectory(0.9, good), worse: trajectory(0.1, bad) };
  const count = { min: 3, max: 5 };
  const request = { pairs: [pair], uncoveredHosts: [], existing: [], count, seed: [1, 'propose'] };
  const { drafts } = await createProviderProposer(endpoint).propose(request, never);
  for (const { polarity, scope, text } of drafts)
    say(`  ${polarity > 0 ? '+' : polarity}  ${scope}  ${text}`);
  if (drafts.length === 0) say('  no draft that can be used');
}

const settings = loadSettings();
const local = await ensureLocalModel(settings.cacheDirectory, say);
const server = await startLlamaServer(local, join(settings.cacheDirectory, 'local-model', 'server.log'));
/** A base model: it has no chat template, but a grammar holds what it writes to a schema all the same. */
const choice = { provider: 'openai', model: localModelName, maxOutputTokens: 400 } as const;
const endpoint: ModelEndpoint = {
  choice,
  baseUrl: server.baseUrl,
  apiKey: null,
  gate: { enter: async () => ({ leave: async () => {} }) },
  priceOf: () => 0,
};
try {
  for (const [name, run] of Object.entries({ selfVerifier, selector, proposer })) {
    const startMs = performance.now();
    say(`${name}:`);
    await run(endpoint);
    say(`  ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  }
} finally {
  server.stop();
}

import { expect, test } from 'vitest';
import type { Candidate } from '../../../models/contract.ts';
import { createEvidenceSelector } from '../../../models/embedded/selector.ts';
import { createAssertionVerifier } from '../../../models/embedded/self-verifier.ts';
import { voteDistribution } from '../../../workflows/method/selection.ts';
import type { Question, SeenAtState } from '../../../workflows/method/types.ts';
import { never, task } from './support.ts';

const selector = createEvidenceSelector();
const candidate = (evidence: number): Candidate => ({
  sheet: { rolloutId: 'r', lines: [], evidence },
  trace: [],
  answer: null,
  finalObservation: null,
});

const vote = (incumbent: number, challenger: number, ...seed: (string | number)[]) =>
  selector.vote(
    {
      task: task(),
      incumbent: candidate(incumbent),
      challenger: candidate(challenger),
      ...{ vote: 0, temperature: 0.7, seed },
    },
    never,
  );

test('votes follow the distribution of METHOD 6.1', async () => {
  const draws = 3000;
  const counts = { A: 0, B: 0, TIE: 0, INVALID: 0 };
  for (let k = 0; k < draws; k++) counts[(await vote(0.1, 0.2, 'votes', k)).label] += 1;
  const expected = voteDistribution(0.1, 0.7);
  for (const label of ['A', 'B', 'TIE'] as const) {
    expect(Math.abs(counts[label] / draws - expected[label])).toBeLessThan(0.05);
  }
  expect(counts.INVALID).toBe(0);
});

test('a vote depends on its seed and the evidence alone, and says what it compared', async () => {
  expect(await vote(0.1, 0.3, 's', 1)).toEqual(await vote(0.1, 0.3, 's', 1));
  expect((await vote(-0.25, 0.5, 's', 1)).reason).toContain('evidence -0.250 (A) against 0.500 (B)');
});

const seen: SeenAtState = {
  instruction: 'Archive the email "Plans".',
  pages: [{ hostKey: 'mail.sandbox', pathKey: 'mail.sandbox/inbox', canonical: 'mail.sandbox/inbox' }],
  steps: [
    {
      tool: 'click',
      target: { role: 'button', name: 'Archive' },
      value: null,
      ok: true,
      url: 'http://mail.sandbox/inbox',
    },
  ],
  elements: [],
  text: 'Email archived.',
  answer: null,
};

const question = (id: string, assertion: Question['assertion']): Question => ({
  id,
  version: 2,
  text: 'Was it archived?',
  scope: '*',
  polarity: 1,
  status: 'candidate',
  provenance: { source: 'seed' },
  ...(assertion && { assertion }),
});

test('assertions are answered by code, one answer a question in order; a question without one is invalid', async () => {
  const questions = [
    question('q_yes', { version: 1, root: { op: 'actionTaken', tool: 'click', target: 'Archive' } }),
    question('q_open', undefined),
    question('q_no', { version: 1, root: { op: 'answerGiven' } }),
  ];
  const { answers } = await createAssertionVerifier().answer({ seen, questions }, never);
  expect(answers.map(({ questionId, version, pYes }) => [questionId, version, pYes])).toEqual([
    ['q_yes', 2, 1],
    ['q_open', 2, null],
    ['q_no', 2, 0],
  ]);
});

import { expect, test } from 'vitest';
import { seedQuestion } from '../../../activities/question-id.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { parseAssertion } from '../../../workflows/method/parse-assertion.ts';

const { seedQuestions } = createSandboxBenchmark();

test('there are about 20 seed questions of every polarity', () => {
  expect(seedQuestions.length).toBeGreaterThanOrEqual(18);
  expect(new Set(seedQuestions.map(({ polarity }) => polarity))).toEqual(new Set([1, -1, 0]));
});

test('every seed question has a valid assertion and an id of its own', () => {
  for (const { assertion, text } of seedQuestions) {
    expect(parseAssertion(JSON.parse(JSON.stringify(assertion))), text).toEqual(assertion);
  }
  const ids = seedQuestions.map((question) => seedQuestion(question).id);
  expect(new Set(ids).size).toBe(ids.length);
});

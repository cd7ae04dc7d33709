/** Answers questions by running their assertions (METHOD 1.5); a question without one has no answer here. */

import { evaluateAssertion } from '../../workflows/method/assertion.ts';
import type { Question, SeenAtState } from '../../workflows/method/types.ts';
import type { Answer, SelfVerifier } from '../contract.ts';
import { freeOfCharge } from './policy.ts';

export function createAssertionVerifier(): SelfVerifier {
  return {
    identity: { provider: 'embedded', model: 'assertions', revision: '1' },
    answer: async ({ seen, questions }) => ({
      answers: questions.map((question) => answerQuestion(question, seen)),
      cost: freeOfCharge,
    }),
  };
}

function answerQuestion({ id, version, assertion }: Question, seen: SeenAtState): Answer {
  const pYes = assertion === undefined ? null : evaluateAssertion(assertion, seen) ? 1 : 0;
  return { questionId: id, version, pYes, source: 'assertion' };
}

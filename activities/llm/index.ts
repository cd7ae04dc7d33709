import type { LlmActivities } from '../contracts.ts';
import { answerQuestions } from './answer-questions.ts';
import { castVotes } from './cast-votes.ts';
import type { LlmDependencies } from './dependencies.ts';

export function createLlmActivities(dependencies: LlmDependencies): LlmActivities {
  return {
    answerQuestions: (input) => answerQuestions(dependencies, input),
    castVotes: (input) => castVotes(dependencies, input),
  };
}

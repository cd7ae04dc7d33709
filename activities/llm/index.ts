import type { BankStore } from '../../bank-store/contract.ts';
import type { Selector, SelfVerifier } from '../../models/contract.ts';
import type { LlmActivities } from '../contracts.ts';
import { answerQuestions } from './answer-questions.ts';
import { castVotes } from './cast-votes.ts';

/** The judge is absent by type: whoever serves this queue cannot call one (invariant 9). */
export interface LlmDependencies {
  readonly store: BankStore;
  readonly selfVerifier: SelfVerifier;
  readonly selector: Selector;
}

export function createLlmActivities(dependencies: LlmDependencies): LlmActivities {
  return {
    answerQuestions: (input) => answerQuestions(dependencies, input),
    castVotes: (input) => castVotes(dependencies, input),
  };
}

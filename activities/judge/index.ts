import type { BankStore } from '../../bank-store/contract.ts';
import type { Judge, Proposer } from '../../models/contract.ts';
import type { JudgeActivities } from '../contracts.ts';
import { growBank } from './grow-bank.ts';
import { judgeGroup } from './judge-group.ts';

export interface JudgeDependencies {
  readonly store: BankStore;
  readonly judge: Judge;
  readonly proposer: Proposer;
}

export function createJudgeActivities(dependencies: JudgeDependencies): JudgeActivities {
  return {
    judgeGroup: (input) => judgeGroup(dependencies, input),
    growBank: (input) => growBank(dependencies, input),
  };
}

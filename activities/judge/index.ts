import type { JudgeActivities } from '../contracts.ts';
import type { JudgeDependencies } from './dependencies.ts';
import { growBank } from './grow-bank.ts';
import { judgeGroup } from './judge-group.ts';

export function createJudgeActivities(dependencies: JudgeDependencies): JudgeActivities {
  return {
    judgeGroup: (input) => judgeGroup(dependencies, input),
    growBank: (input) => growBank(dependencies, input),
  };
}

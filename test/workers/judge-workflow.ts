/** The smallest plot that asks a judge, under the house's own timeouts and retries. */
import type { JudgeActivities } from '../../activities/contracts.ts';
import { judge } from '../../workflows/activity-proxies.ts';

export function judgeWorkflow(input: Parameters<JudgeActivities['judgeGroup']>[0]) {
  return judge.judgeGroup(input);
}

/**
 * The embedded training judge: compares the traces of a group against the task's subgoals. It reads what was
 * done, never the final state: whether the outcome is right is the outcome verifier's business.
 */
import type { Subgoal } from '../../benchmarks/contract.ts';
import type { Judge, JudgedTrajectory, JudgeRequest } from '../contract.ts';
import { freeOfCharge } from './policy.ts';
import { type Assessment, assess, type StepRole } from './rubric.ts';
import { stepText } from './trace-text.ts';

/** Score of a step by what it was good for. */
const stepScores: Readonly<Record<StepRole, number>> = {
  finish: 1,
  progress: 0.9,
  approach: 0.4,
  detour: 0.1,
  early: 0,
  overrun: 0.05,
  stray: 0.05,
  repeat: 0.05,
  failed: 0.05,
  mistake: 0,
};

/** Shares of the trajectory score: what was reached, that all was reached, and how directly. */
const shares = {
  floor: 0.05,
  progress: 0.6,
  complete: 0.15,
  directness: 0.2,
  damage: 0.8,
  waste: 0.02,
} as const;

export function createRubricJudge(rubricOf: (taskId: string) => readonly Subgoal[]): Judge {
  return {
    identity: { provider: 'embedded', model: 'rubric-judge', revision: '1' },
    judge: async (request) => ({
      reply: { ok: true, judged: judgeGroup(request, rubricOf(request.task.id)) },
      cost: freeOfCharge,
    }),
  };
}

function judgeGroup({ traces }: JudgeRequest, subgoals: readonly Subgoal[]): JudgedTrajectory[] {
  const assessments = traces.map(({ steps, answer }) => assess(steps, answer, subgoals));
  const mostWasted = Math.max(1, ...assessments.map(({ wasted }) => wasted));
  const bestProgress = Math.max(0, ...assessments.map(({ progress }) => progress));
  return assessments.map((assessment, index) => {
    const directness = 1 - assessment.wasted / mostWasted;
    return {
      score: trajectoryScore(assessment, directness),
      stepScores: assessment.roles.map((role) => stepScores[role]),
      rationale: rationale(assessment, bestProgress, mostWasted, traces[index]?.steps ?? []),
    };
  });
}

/** In [0, 1], in thousandths. Directness counts in proportion to progress: doing nothing is not direct. */
function trajectoryScore({ missed, progress, damage, wasted }: Assessment, directness: number): number {
  const score =
    shares.floor +
    shares.progress * progress +
    (missed.length === 0 ? shares.complete : 0) +
    shares.directness * progress * directness -
    shares.damage * damage -
    shares.waste * wasted;
  return Math.round(1000 * Math.min(1, Math.max(0, score))) / 1000;
}

function rationale(
  { reached, missed, mistakes, progress, roles, wasted }: Assessment,
  bestProgress: number,
  mostWasted: number,
  steps: JudgeRequest['traces'][number]['steps'],
): string {
  const names = (subgoals: readonly Subgoal[]): string =>
    subgoals.map(({ description }) => description).join('; ');
  const firstWaste = roles.findIndex((role) => role === 'stray' || role === 'repeat' || role === 'failed');
  const wasteful = steps[firstWaste];
  const lines = [
    reached.length === 0 ? 'Reached nothing of what the task needs.' : `Reached: ${names(reached)}.`,
    missed.length === 0 ? 'Nothing is missing.' : `Missing: ${names(missed)}.`,
    mistakes.length === 0 ? '' : `Mistakes: ${names(mistakes)}.`,
    roles.at(-1) === 'early' ? 'It ended before the work was done.' : '',
    wasteful === undefined ? '' : `First useless step: ${stepText(wasteful)}.`,
    `Compared with the group: progress ${percent(progress)} (best ${percent(bestProgress)}), ` +
      `${wasted} wasted of ${roles.length} steps (most ${mostWasted}).`,
  ];
  return lines.filter((line) => line !== '').join(' ');
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

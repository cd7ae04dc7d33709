import type {
  RolloutSummary,
  TrainingStepOutcome,
  TrainingStepPlan,
  TrainingStepRef,
  TrainingStepSummary,
} from '../activities/contracts.ts';
import { cpu, gpu, judge, llm } from './activity-proxies.ts';
import { allOrNone, orNull } from './failures.ts';
import { rollOutAll } from './roll-out.ts';

/** One training step: one group of G rollouts of one task, one update (DESIGN 2.1). */
export async function trainStepWorkflow(ref: TrainingStepRef): Promise<TrainingStepSummary> {
  const plan = await cpu.planTrainingStep(ref);
  if (plan.committed !== null) return plan.committed;
  const rollouts = await rollOutAll(ref.runId, plan.groupId, plan.rollouts);
  const outcome = await learnFrom(rollouts, plan, ref);
  return cpu.commitTrainingStep({ ...ref, outcome });
}

async function learnFrom(
  rollouts: readonly RolloutSummary[],
  plan: TrainingStepPlan,
  ref: TrainingStepRef,
): Promise<TrainingStepOutcome> {
  const scored = rollouts.filter(({ outcome }) => outcome.kind !== 'unscored');
  if (scored.length < plan.quorum) return 'below_quorum';

  const [judgement, answered] = await allOrNone([
    () => orNull(() => judge.judgeGroup({ runId: ref.runId, groupId: plan.groupId })),
    () => (plan.useBank ? orNull(() => answerGroup(ref.runId, scored)) : Promise.resolve([])),
  ]);
  if (judgement === null || !judgement.ok) return 'judge_error';
  if (answered === null) return 'self_verifier_error';

  if (plan.useBank) await cpu.certify(ref);
  const { batchDigest } = await cpu.buildBatch(ref);
  if (batchDigest === null) return 'no_gradient';
  await gpu.updateAdapter({ ...ref, batchDigest });
  return 'updated';
}

function answerGroup(runId: string, rollouts: readonly RolloutSummary[]) {
  return allOrNone(
    rollouts.map(
      ({ rolloutId }) =>
        () =>
          llm.answerQuestions({ runId, rolloutId }),
    ),
  );
}

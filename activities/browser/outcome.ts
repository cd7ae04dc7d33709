import type { Benchmark, Evidence, GuardFlag, Task, Verdict } from '../../benchmarks/contract.ts';
import type { Outcome } from '../contracts.ts';

export interface Graded {
  readonly outcome: Outcome;
  readonly message: string;
}

/** The grader's verdict as an outcome (invariant 1). What kept the rollout from counting is never a failure. */
export async function grade(
  benchmark: Benchmark,
  task: Task,
  evidence: Evidence,
  flags: readonly GuardFlag[],
): Promise<Graded> {
  const flag = flags.find(({ invalidates }) => invalidates);
  if (flag !== undefined) {
    return { outcome: { kind: 'unscored', cause: 'invalid' }, message: `${flag.rule}: ${flag.detail}` };
  }
  try {
    const verdict = await benchmark.grade(task, evidence);
    return { outcome: outcomeOf(verdict), message: verdict.message };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: { kind: 'unscored', cause: 'grader_error' }, message };
  }
}

function outcomeOf({ kind }: Verdict): Outcome {
  switch (kind) {
    case 'success':
    case 'failure':
      return { kind };
    case 'invalid':
    case 'insufficient_evidence':
      return { kind: 'unscored', cause: kind };
  }
}

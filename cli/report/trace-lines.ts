import { traceOf } from '../../activities/trajectory.ts';
import type { StoredJudgement, StoredRollout } from '../../bank-store/contract.ts';
import { stepText } from '../../models/embedded/trace-text.ts';

export interface TraceLine {
  /** Numbered: `3. click button "Archive" on mail.sandbox/inbox`. */
  readonly text: string;
  /** The judge's score of the step, in [0, 1]; null where there is none. */
  readonly judge: number | null;
  /** Null where no batch was made of it. */
  readonly advantage: number | null;
}

export function traceLines(
  stored: StoredRollout,
  judgement: StoredJudgement | null,
  advantages: readonly number[],
): readonly TraceLine[] {
  return traceOf(stored).map((step, index) => ({
    text: stepText(step),
    judge: judgement?.stepScores[index] ?? null,
    advantage: advantages[index] ?? null,
  }));
}

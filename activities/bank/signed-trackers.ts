import { questionKey } from '../../workflows/method/lookup.ts';
import type { Question, Tracker } from '../../workflows/method/types.ts';

/**
 * The trackers with the signs that their questions carry now, also at keys where no group has come by since the sign
 * was lost or found. Trackers of none of these questions are neutral.
 */
export function withCurrentSigns(
  trackers: readonly Tracker[],
  questions: readonly Question[],
): readonly Tracker[] {
  const signs = new Map(questions.map(({ id, version, polarity }) => [questionKey(id, version), polarity]));
  return trackers.map((tracker) => ({
    ...tracker,
    polarity: signs.get(questionKey(tracker.qid, tracker.version)) ?? 0,
  }));
}

import { certify } from './certify.ts';
import { normaliseText } from './duplicates.ts';
import { questionKey } from './lookup.ts';
import { mergeShards, type ShardTrackers } from './merge.ts';
import type { CertifierConstants, Question, Tracker } from './types.ts';

export interface ShardBank extends ShardTrackers {
  readonly questions: readonly Question[];
}

export interface MergedBank {
  /** By (id, version); certificates are never merged, recompute them from the trackers. */
  readonly questions: readonly Question[];
  readonly trackers: readonly Tracker[];
}

/**
 * METHOD 5.5: questions of different shards with equal normalised text, scope and assertion become one. Where they
 * carry different signs, the sign with the larger E at the global key stays and the others are retired.
 */
export function mergeBanks(shards: readonly ShardBank[], constants: CertifierConstants): MergedBank {
  const unified = unifiedIds(shards.flatMap((shard) => shard.questions));
  const idOf = (id: string): string => unified.get(id) ?? id;
  const trackers = mergeShards(
    shards.map((shard) => ({
      ...shard,
      trackers: shard.trackers.map((tracker) => ({ ...tracker, qid: idOf(tracker.qid) })),
    })),
    constants,
  );
  const evidenceOf = (question: Question): number => {
    const atGlobal = trackers.find(
      (t) => t.tier === 'global' && t.polarity === question.polarity && sameVersion(t, question),
    );
    return atGlobal ? certify(atGlobal, constants).logE : 0;
  };
  const renamed = shards.flatMap((shard) =>
    shard.questions.map((question) => ({ ...question, id: idOf(question.id) })),
  );
  const questions = [...Map.groupBy(renamed, (question) => question.id).values()]
    .flatMap((versions) => keepStrongestSign(versions, evidenceOf))
    .sort((a, b) => (a.id === b.id ? a.version - b.version : a.id < b.id ? -1 : 1));
  return { questions, trackers };
}

const sameVersion = (tracker: Tracker, question: Question): boolean =>
  tracker.qid === question.id && tracker.version === question.version;

/** Every id to the smallest id of the same question. */
function unifiedIds(questions: readonly Question[]): ReadonlyMap<string, string> {
  const byContent = Map.groupBy(questions, ({ text, scope, assertion }) =>
    JSON.stringify([normaliseText(text), scope, assertion ?? null]),
  );
  const unified = new Map<string, string>();
  for (const same of byContent.values()) {
    const [smallest = ''] = same.map((question) => question.id).sort();
    for (const { id } of same) unified.set(id, smallest);
  }
  return unified;
}

/** One question a version: the strongest sign as it is, then neutral ones, other signs retired. */
function keepStrongestSign(
  versions: readonly Question[],
  evidenceOf: (question: Question) => number,
): Question[] {
  const live = versions.filter((question) => question.polarity !== 0 && question.status !== 'retired');
  const strongest = live.reduce<Question | null>(
    (best, question) => (best === null || evidenceOf(question) > evidenceOf(best) ? question : best),
    null,
  );
  const isWinner = (q: Question): boolean =>
    q.status !== 'retired' && q.version === strongest?.version && q.polarity === strongest.polarity;
  const ranked = [
    ...versions.filter(isWinner),
    ...versions.filter((question) => question.polarity === 0),
    ...versions.filter((question) => question.polarity !== 0 && !isWinner(question)).map(retire),
  ];
  const kept = new Map<string, Question>();
  for (const question of ranked) {
    const key = questionKey(question.id, question.version);
    if (!kept.has(key)) kept.set(key, question);
  }
  return [...kept.values()];
}

const retire = (question: Question): Question => ({ ...question, status: 'retired' });

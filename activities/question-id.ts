import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { QuestionDraft } from '../models/contract.ts';
import { normaliseText } from '../workflows/method/duplicates.ts';
import type { Assertion, Question } from '../workflows/method/types.ts';
import type { TrainingStepRef } from './contracts.ts';

/** DESIGN 4: the id of a question is its meaning, so that shards which find the same one agree on its name. */
export function questionId(text: string, scope: string, assertion: Assertion | null): string {
  const meaning = canonicalize([normaliseText(text), scope, assertion]) ?? '';
  return `q_${createHash('sha256').update(meaning).digest('hex').slice(0, 16)}`;
}

/** A mined question, uncertified, with the group whose rationales it came from (METHOD 5.2). */
export function draftedQuestion(draft: QuestionDraft, at: TrainingStepRef): Question {
  return {
    ...newQuestion(draft),
    provenance: {
      source: 'cegar',
      step: at.step,
      shard: String(at.shard),
      rationaleId: draft.groupId,
      groupIds: [draft.groupId],
    },
  };
}

export function seedQuestion(draft: Omit<QuestionDraft, 'groupId'>): Question {
  return { ...newQuestion(draft), provenance: { source: 'seed' } };
}

function newQuestion({ text, scope, polarity, assertion }: Omit<QuestionDraft, 'groupId'>) {
  return {
    id: questionId(text, scope, assertion),
    version: 1,
    text,
    scope,
    polarity,
    status: polarity === 0 ? ('neutral' as const) : ('candidate' as const),
    ...(assertion === null ? {} : { assertion }),
  };
}

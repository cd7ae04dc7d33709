/** Where in a job something can be struck: which activity runs in which phase, on which queue, and what it writes last. */
import type { TaskQueue } from '../../workflows/names.ts';

export const phases = [
  'base evaluation',
  'rollouts',
  'judging',
  'update',
  'growth',
  'freeze',
  'final evaluation',
  'votes',
] as const;

export type Phase = (typeof phases)[number];

export interface Point {
  readonly phase: Phase;
  /** Activity type. */
  readonly activity: string;
  readonly role: TaskQueue;
  /**
   * Rows that the activity inserts. Kept from inserting them, a short activity stays in flight, its work begun, until
   * it is struck. Null: a rollout is long enough.
   */
  readonly inserts: { readonly table: string; readonly when?: string } | null;
}

const inTable = (table: string, when?: string) => ({ table, ...(when !== undefined && { when }) });

export const points: readonly Point[] = [
  { phase: 'base evaluation', activity: 'rollOut', role: 'browser', inserts: null },
  { phase: 'rollouts', activity: 'rollOut', role: 'browser', inserts: null },
  { phase: 'judging', activity: 'judgeGroup', role: 'judge', inserts: inTable('judgements') },
  { phase: 'judging', activity: 'answerQuestions', role: 'llm', inserts: inTable('answers') },
  { phase: 'update', activity: 'certify', role: 'cpu', inserts: inTable('bank_snapshots') },
  { phase: 'update', activity: 'updateAdapter', role: 'gpu', inserts: inTable('adapters', 'new.step >= 0') },
  { phase: 'update', activity: 'commitTrainingStep', role: 'cpu', inserts: inTable('training_steps') },
  {
    ...{ phase: 'growth', activity: 'growBank', role: 'judge' },
    inserts: inTable('model_calls', "new.purpose = 'proposer'"),
  },
  { phase: 'freeze', activity: 'finishTraining', role: 'cpu', inserts: inTable('banks') },
  { phase: 'final evaluation', activity: 'rollOut', role: 'browser', inserts: null },
  {
    ...{ phase: 'votes', activity: 'castVotes', role: 'llm' },
    inserts: inTable('model_calls', "new.purpose = 'selector'"),
  },
  {
    ...{ phase: 'votes', activity: 'recordSelection', role: 'cpu' },
    // The base policy's evaluation selects nothing, but records that.
    inserts: inTable('selections', 'new.bank_digest is not null'),
  },
];

/** Activities that call a model: each has at most one paid call in flight. */
export const payingActivities: ReadonlySet<string> = new Set([
  'rollOut',
  'judgeGroup',
  'answerQuestions',
  'growBank',
  'castVotes',
]);

/** The point that an activity is at; null for one that is over too soon to be struck. */
export function pointOf(workflowId: string, activity: string): Point | null {
  const isBase = /^eval\/[^/]*-base\//.test(workflowId);
  const isTraining = workflowId.startsWith('train/');
  const belongs = ({ phase }: Point): boolean => {
    if (phase === 'base evaluation') return isBase;
    if (phase === 'final evaluation' || phase === 'votes') return !isBase && !isTraining;
    return isTraining;
  };
  return points.find((point) => point.activity === activity && belongs(point)) ?? null;
}

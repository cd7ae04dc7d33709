import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BankStore,
  FailedExecution,
  ModelCallKey,
  Overrun,
  Purse,
  SpendingLimit,
} from '../bank-store/contract.ts';
import {
  type AskedPart,
  type CallCost,
  type LostReply,
  type ModelIdentity,
  UnansweredCall,
} from '../models/contract.ts';
import { fault, weather } from './failures.ts';
import type { Ceilings } from './model-config.ts';

export interface PaidCall {
  readonly key: ModelCallKey;
  /** Owners under which everything is paid that counts towards the ceiling of this task. */
  readonly task: readonly string[];
  readonly ceilings: Ceilings;
  readonly model: ModelIdentity;
  /** Whatever decides the reply, beside the model. */
  readonly request: object;
  /** Dollars, see `mostUsdOf`; null: no price is known. */
  readonly mostUsd: number | null;
  readonly signal: AbortSignal;
  readonly ask: () => Promise<{ readonly reply: unknown; readonly cost: CallCost }>;
}

/**
 * The reply to a model call that is paid for at most once (invariant 2): from the journal, or from the model and then
 * journalled. Under a ceiling the most that it may cost is set aside before it is asked for, so that calls in flight
 * cannot pass the ceiling together. Throws `BudgetExceeded` instead of asking beyond a ceiling, and a fault instead of
 * asking for ever for a reply that is made, and paid for, without ever coming.
 */
export function paidCall(store: BankStore, call: PaidCall): Promise<unknown> {
  const { key, model, request, signal, ask } = call;
  const execute = async (purse: Purse) => {
    await setAside(purse, call);
    try {
      return { ...(await ask()), model: model.model };
    } catch (error) {
      if (error instanceof UnansweredCall) return failedBy(error, purse);
      throw error;
    }
  };
  return store.callOnce(key, { model, ...request }, execute, signal);
}

// ---- replies that never came ----------------------------------------------------------------------------------

/** A server that loses replies is given time, since each try costs. The try after the last of these is the last. */
const PAUSES_MS = [30_000, 2 * 60_000, 8 * 60_000, 30 * 60_000];

function failedBy(unanswered: UnansweredCall, purse: Purse): FailedExecution {
  const { spent, lostReply, cause = unanswered } = unanswered;
  if (lostReply === null) return { error: cause, spent, lostReply: false, isFault: false };
  const lost = purse.lostReplies + 1;
  const isFault = lost > PAUSES_MS.length;
  const error = isFault
    ? tooManyLost(lostReply, lost, unanswered)
    : weather('ProviderUnavailable', unanswered.message, unanswered, PAUSES_MS[lost - 1]);
  return { error, spent, lostReply: true, isFault };
}

/** Pauses the run however the replies were lost: what is the server's fault must not lose a call. */
function tooManyLost(lostReply: LostReply, tries: number, { message }: UnansweredCall): Error {
  return fault(
    'ModelUnusable',
    `${tries} tries of one model call gave no reply that can be used, and each may have been paid for; ` +
      `the last one ended with: ${message}`,
    `Check ${suspects[lostReply]}, then resume the run: the call gets as many tries again`,
  );
}

const suspects: Readonly<Record<LostReply, string>> = {
  cut: 'the model server',
  malformed: "that the model's `provider` names the format that its server speaks",
};

/** What the part says that an answer may cost at most; parts that ask no server cost nothing. */
export function mostUsdOf<Asked>({ mostUsd }: AskedPart<Asked>, asked: Asked): number | null {
  return mostUsd === undefined ? 0 : mostUsd(asked);
}

interface Ceiling extends SpendingLimit {
  readonly field: keyof Ceilings;
  readonly whose: string;
}

function ceilingsOf({ key, task, ceilings }: PaidCall): readonly Ceiling[] {
  const { usdPerRun, usdPerTask } = ceilings;
  const ofRun = { field: 'usdPerRun', owners: null, whose: `run ${key.runId}` } as const;
  const ofTask = { field: 'usdPerTask', owners: task, whose: `the task of ${key.owner}` } as const;
  return [
    ...(usdPerRun === null ? [] : [{ ...ofRun, usd: usdPerRun }]),
    ...(usdPerTask === null ? [] : [{ ...ofTask, usd: usdPerTask }]),
  ];
}

/** Calls in flight cost less than they may; what they leave is free again within this, or nobody answers. */
const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 250;

async function setAside(purse: Purse, call: PaidCall): Promise<void> {
  const { mostUsd, signal } = call;
  const ceilings = ceilingsOf(call);
  const [first] = ceilings;
  if (first === undefined) return;
  if (mostUsd === null) throw priceUnknown(first);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const overrun = await purse.reserve(mostUsd, ceilings);
    if (overrun === null) return;
    if (!leavesHope(overrun, mostUsd)) throw exceeded(overrun, mostUsd);
    if (performance.now() > deadline) {
      throw weather('RateLimited', `${overrun.limit.whose} waits for its calls in flight to leave room`);
    }
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}

/** Whether calls that end could make room: what is spent never comes back. */
function leavesHope({ spentUsd, reservedUsd, limit }: Overrun<Ceiling>, mostUsd: number): boolean {
  const fitsAlone = spentUsd !== null && spentUsd < limit.usd && spentUsd + mostUsd <= limit.usd;
  return fitsAlone && reservedUsd > 0;
}

function exceeded({ limit, spentUsd }: Overrun<Ceiling>, mostUsd: number): Error {
  if (spentUsd === null) return costUnknown(limit);
  return fault(
    'BudgetExceeded',
    `${limit.whose} has spent $${spentUsd.toFixed(2)} of $${limit.usd.toFixed(2)}` +
      (spentUsd < limit.usd ? `, and the next call may cost $${mostUsd.toFixed(2)}` : ''),
    `Raise \`ceilings.${limit.field}\` and start the same command again: what is finished is kept`,
  );
}

function costUnknown({ whose, field }: Ceiling): Error {
  return fault(
    'BudgetExceeded',
    `The ceiling of ${whose} cannot be kept: what a call cost is unknown, because its model has no price or its ` +
      'server reported no usage',
    `Take \`ceilings.${field}\` out, or start a new run whose models have a \`price\` and whose servers report usage`,
  );
}

function priceUnknown({ whose, field }: Ceiling): Error {
  return fault(
    'BudgetExceeded',
    `The ceiling of ${whose} cannot be kept: the price of a model that it asks is unknown`,
    `Give that model a \`price\` and start a new run, or take \`ceilings.${field}\` out`,
  );
}

import type { BankStore, ModelCallKey } from '../bank-store/contract.ts';
import type { CallCost, ModelIdentity } from '../models/contract.ts';
import { fault } from './failures.ts';
import type { Ceilings } from './model-config.ts';

export interface PaidCall {
  readonly key: ModelCallKey;
  /** Owners under which everything is paid that counts towards the ceiling of this task. */
  readonly task: readonly string[];
  readonly ceilings: Ceilings;
  readonly model: ModelIdentity;
  /** Whatever decides the reply, beside the model. */
  readonly request: object;
  readonly ask: () => Promise<{ readonly reply: unknown; readonly cost: CallCost }>;
}

/**
 * The reply to a model call that is paid for at most once (invariant 2): from the journal, or from the model and then
 * journalled. Throws `BudgetExceeded` instead of asking beyond a ceiling; calls in flight at that time are paid.
 */
export function paidCall(store: BankStore, call: PaidCall): Promise<unknown> {
  const { key, model, request, ask } = call;
  return store.callOnce(key, { model, ...request }, async () => {
    await refuseBeyondCeilings(store, call);
    return { ...(await ask()), model: model.model };
  });
}

async function refuseBeyondCeilings(store: BankStore, { key, task, ceilings }: PaidCall): Promise<void> {
  const { runId, owner } = key;
  const { usdPerRun, usdPerTask } = ceilings;
  if (usdPerRun !== null) {
    refuseBeyond(usdPerRun, await store.spentByRun(runId), `run ${runId}`, 'usdPerRun');
  }
  if (usdPerTask !== null) {
    refuseBeyond(usdPerTask, await store.spentBy(runId, task), `the task of ${owner}`, 'usdPerTask');
  }
}

function refuseBeyond(ceiling: number, spent: number | null, who: string, field: keyof Ceilings): void {
  if (spent === null) {
    throw fault(
      'BudgetExceeded',
      `The ceiling of ${who} cannot be kept: the price of a model that it has asked is unknown`,
      `Give that model a \`price\` and start a new run, or take \`ceilings.${field}\` out`,
    );
  }
  if (spent < ceiling) return;
  throw fault(
    'BudgetExceeded',
    `${who} has spent $${spent.toFixed(2)} of $${ceiling.toFixed(2)}`,
    `Raise \`ceilings.${field}\` and start the same command again: what is finished is kept`,
  );
}

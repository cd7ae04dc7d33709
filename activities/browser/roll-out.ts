import { ApplicationFailure } from '@temporalio/common';
import type { AttemptClaim, AttemptEnding } from '../../bank-store/contract.ts';
import type { Environment } from '../../benchmarks/contract.ts';
import type { RolloutSummary } from '../contracts.ts';
import { weather } from '../failures.ts';
import { summariseRollout } from '../rollout-summary.ts';
import { runConfigSchema } from '../run-config.ts';
import { Attempt, type DeadAttempt } from './attempt.ts';
import { PageScriptError } from './page-world.ts';
import type { BrowserParts, RolloutPlan } from './parts.ts';
import type { PolicyCache } from './policy-cache.ts';
import { openBrowserSession } from './session.ts';

/** Lives in a row that may end without a step before the rollout is given up as unscored. */
const BARREN_LIMIT = 3;

/**
 * Acts, grades and records one rollout. A try that follows another one resumes its attempt where the benchmark can
 * be reset, and begins the next attempt elsewhere. Throws weather for Temporal to retry; a rollout that no attempt
 * could begin ends as `unscored: infra` (invariant 1).
 */
export async function rollOut(
  parts: BrowserParts,
  policies: PolicyCache,
  input: { readonly runId: string; readonly rolloutId: string },
  signal: AbortSignal,
): Promise<RolloutSummary> {
  const plan = await readPlan(parts, policies, input);
  let claim = await parts.store.claimAttempt(input.rolloutId, parts.worker);
  while (claim.finished === null) {
    const ending = await live(parts, plan, claim, signal);
    claim = await conclude(parts, plan, claim, ending);
  }
  return summariseRollout(plan.rollout.id, claim.finished);
}

async function readPlan(
  { store, benchmarkNamed }: BrowserParts,
  policies: PolicyCache,
  { runId, rolloutId }: { readonly runId: string; readonly rolloutId: string },
): Promise<RolloutPlan> {
  const [run, { rollout }] = await Promise.all([store.getRun(runId), store.getRollout(rolloutId)]);
  const { models, ceilings } = runConfigSchema.parse(run.config);
  const task = await store.getTask(rollout.taskId);
  const policy = await policies.open(models.policy, rollout.adapterDigest);
  return { runId, rollout, task, benchmark: benchmarkNamed(task.benchmark), policy, ceilings };
}

// ---- one attempt -------------------------------------------------------------------------------------------

/** One life: environment and browser are there for it alone, and are gone when it ends, however it ends. */
async function live(
  parts: BrowserParts,
  plan: RolloutPlan,
  claim: AttemptClaim,
  signal: AbortSignal,
): Promise<AttemptEnding | DeadAttempt> {
  if (claim.steps.length > 0 && !plan.benchmark.resettable) {
    return { deadBecause: 'cannot be resumed: the site cannot be reset' };
  }
  let hasProgressed = false;
  try {
    const environment = await openEnvironment(plan, signal);
    try {
      if (!(await confirmStart(parts, plan, claim, environment))) {
        return { deadBecause: 'cannot be resumed: the environment resets to another state than before' };
      }
      const session = await openBrowserSession({
        pool: parts.pool,
        environment,
        task: plan.task,
        clock: plan.benchmark.clock,
        signal,
      });
      const attempt = new Attempt(parts, plan, claim, { environment, session }, signal);
      try {
        return await attempt.run();
      } finally {
        hasProgressed = attempt.newSteps > 0;
        await session.close();
      }
    } finally {
      await leave(parts, plan, claim, environment);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!hasProgressed && isOfThePlace(error)) return { deadBecause: error.message.slice(0, 500), error };
    throw error;
  }
}

async function openEnvironment({ benchmark, task }: RolloutPlan, signal: AbortSignal): Promise<Environment> {
  try {
    return await benchmark.open(task, signal);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw weather('NetworkDown', `The application of ${task.id} did not start: ${reason}`, error);
  }
}

/** What the browser asked for is kept however the life ended. */
async function leave(
  { store }: BrowserParts,
  { rollout }: RolloutPlan,
  { fence }: AttemptClaim,
  environment: Environment,
): Promise<void> {
  try {
    const digest = await store.blobs.putJson(environment.requestLog());
    await store.keepRequestLog(rollout.id, fence, digest);
  } finally {
    await environment.close();
  }
}

/** On a site that cannot be reset there is no start to compare. */
async function confirmStart(
  { store }: BrowserParts,
  { benchmark, rollout }: RolloutPlan,
  { fence }: AttemptClaim,
  { initialStateDigest }: Environment,
): Promise<boolean> {
  return !benchmark.resettable || store.confirmInitialState(rollout.id, fence, initialStateDigest);
}

// ---- how it went on ----------------------------------------------------------------------------------------

/**
 * Finished, or dead. What died of weather is tried again by Temporal: where it can be resumed as it stands, since its
 * steps and its paid replies are good, elsewhere as the next attempt. What cannot be resumed begins anew at once.
 */
async function conclude(
  parts: BrowserParts,
  plan: RolloutPlan,
  claim: AttemptClaim,
  ending: AttemptEnding | DeadAttempt,
): Promise<AttemptClaim> {
  const { store } = parts;
  const { id } = plan.rollout;
  if (!('deadBecause' in ending)) {
    return { ...claim, finished: await store.finishRollout(id, claim.fence, ending) };
  }
  const { deadBecause, error } = ending;
  if (error === undefined) return store.abandonAttempt(id, claim.fence, deadBecause);
  if (plan.benchmark.resettable) {
    if ((await store.noteInterruption(id, claim.fence)) < BARREN_LIMIT) throw error;
  } else {
    const { barrenAttempts } = await store.abandonAttempt(id, claim.fence, deadBecause);
    if (barrenAttempts < BARREN_LIMIT) throw error;
  }
  const cause = `${BARREN_LIMIT} lives in a row ended without a step, the last one: ${deadBecause}`;
  await store.failRollout(id, { kind: 'unscored', cause: 'infra' }, cause);
  return store.claimAttempt(id, parts.worker);
}

/** True for what the browser, the network or the page did to the attempt; a model or the store is no such thing. */
function isOfThePlace(error: unknown): error is Error {
  if (error instanceof PageScriptError) return true;
  return error instanceof ApplicationFailure && ['BrowserCrashed', 'NetworkDown'].includes(error.type ?? '');
}

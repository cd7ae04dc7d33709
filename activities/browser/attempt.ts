import { isDeepStrictEqual } from 'node:util';
import type { AttemptClaim, AttemptEnding, StepRecord } from '../../bank-store/contract.ts';
import type { Action, Environment, Observation, TraceStep } from '../../benchmarks/contract.ts';
import type { StopReason } from '../contracts.ts';
import { type Decision, decide } from './decide.ts';
import { grade } from './outcome.ts';
import type { BrowserParts, RolloutPlan } from './parts.ts';
import { picturesFor } from './pictures.ts';
import type { BrowserSession } from './session.ts';

/** Live sites only: on apps that can be reset the budget is steps, whatever the machine's speed (invariant 3). */
const LIVE_TIME_BUDGET_MS = 30 * 60_000;

/** What was seen last: the state that the next action is chosen from. */
interface Seen {
  readonly observation: Observation;
  readonly digest: string;
  readonly observeMs: number;
}

/** An attempt that can go no further, and why; another one may begin. */
export interface DeadAttempt {
  readonly deadBecause: string;
  /** What killed it, where waiting a while may help. */
  readonly error?: Error;
}

/** One life of an environment, from its start page to its verdict. */
export class Attempt {
  readonly #parts: BrowserParts;
  readonly #plan: RolloutPlan;
  readonly #claim: AttemptClaim;
  readonly #environment: Environment;
  readonly #session: BrowserSession;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #steps: StepRecord[] = [];

  constructor(
    parts: BrowserParts,
    plan: RolloutPlan,
    claim: AttemptClaim,
    place: { readonly environment: Environment; readonly session: BrowserSession },
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#plan = plan;
    this.#claim = claim;
    this.#environment = place.environment;
    this.#session = place.session;
    this.#signal = signal;
  }

  /** Steps that this life added to what was recorded before. */
  get newSteps(): number {
    return this.#steps.length - this.#claim.steps.length;
  }

  /** Re-executes what is recorded, acts on to the end, and returns the ending with its verdict. */
  async run(): Promise<AttemptEnding | DeadAttempt> {
    const resumed = await this.#resume();
    if ('deadBecause' in resumed) return resumed;
    let seen = resumed;
    let stopReason = this.#stopReason();
    while (stopReason === null) {
      this.#signal.throwIfAborted();
      seen = await this.#step(seen);
      stopReason = this.#stopReason();
    }
    return this.#end(seen, stopReason);
  }

  // ---- resuming ----------------------------------------------------------------------------------------------

  /** No model is called: each recorded action is taken again and must lead to the same page and state. */
  async #resume(): Promise<Seen | DeadAttempt> {
    let seen = await this.#see();
    for (const recorded of this.#claim.steps) {
      if (seen.digest !== recorded.observationDigest) return differs(recorded, 'the page looks different');
      const result = await this.#session.act(recorded.action);
      if (!isDeepStrictEqual(result, recorded.result))
        return differs(recorded, 'the action ended differently');
      seen = await this.#see();
      if (seen.observation.url !== recorded.urlAfter) return differs(recorded, 'it led to another address');
      const stateDigest = await this.#environment.stateDigest();
      if (stateDigest !== recorded.stateDigest)
        return differs(recorded, 'the application is in another state');
      this.#steps.push(recorded);
    }
    return seen;
  }

  // ---- one step ----------------------------------------------------------------------------------------------

  async #step(seen: Seen): Promise<Seen> {
    const decidedAt = performance.now();
    const decision = await this.#decide(seen);
    const decideMs = performance.now() - decidedAt;
    const result = await this.#session.act(decision.action);
    const next = await this.#see();
    const { action, promptDigest, tokenIds, logProbs, toolCallSpan } = decision;
    const step: StepRecord = {
      index: this.#steps.length,
      urlBefore: seen.observation.url,
      urlAfter: next.observation.url,
      action,
      target: targetOf(action, seen.observation),
      result,
      observationDigest: seen.digest,
      screenshotDigest: await this.#screenshot(action),
      stateDigest: await this.#environment.stateDigest(),
      promptDigest,
      tokenIds,
      logProbs,
      toolCallSpan,
      decideMs,
      ...this.#session.timings(),
      observeMs: next.observeMs,
    };
    await this.#parts.store.recordStep(this.#plan.rollout.id, this.#claim.fence, step);
    this.#steps.push(step);
    return next;
  }

  async #see(): Promise<Seen> {
    const start = performance.now();
    const observation = await this.#session.observe();
    const observeMs = performance.now() - start;
    return { observation, digest: await this.#parts.store.blobs.putJson(observation), observeMs };
  }

  async #decide({ observation, digest }: Seen): Promise<Decision> {
    const point = {
      attempt: this.#claim.attempt,
      index: this.#steps.length,
      history: this.#steps.map(traceStep),
      observation,
      observationDigest: digest,
      images: await picturesFor(this.#plan, this.#parts.store.blobs, this.#session),
    };
    return decide(this.#parts.store, this.#plan, point, this.#signal);
  }

  async #screenshot(action: Action): Promise<string | null> {
    const { screenshots, store } = this.#parts;
    const isLast = endsRollout(action) || this.#steps.length + 1 >= this.#plan.rollout.maxSteps;
    if (screenshots === 'off' || (screenshots === 'final' && !isLast)) return null;
    return store.blobs.put(await this.#session.screenshot());
  }

  // ---- the end -----------------------------------------------------------------------------------------------

  #stopReason(): StopReason | null {
    const last = this.#steps.at(-1)?.action;
    if (last?.tool === 'stop') return 'answered';
    if (last?.tool === 'infeasible') return 'infeasible';
    if (this.#environment.flags().some(({ invalidates }) => invalidates)) return 'guard';
    if (this.#steps.length >= this.#plan.rollout.maxSteps) return 'step_budget';
    const isLate = performance.now() - this.#startedAt > LIVE_TIME_BUDGET_MS;
    return isLate && !this.#plan.benchmark.resettable ? 'time_budget' : null;
  }

  /** Whatever grading needs is captured while the environment lives; the verdict comes from that alone. */
  async #end({ observation, digest }: Seen, stopReason: StopReason): Promise<AttemptEnding> {
    const { benchmark, task } = this.#plan;
    const last = this.#steps.at(-1)?.action;
    const answer = last?.tool === 'stop' ? last.answer : null;
    const finalUrl = observation.url;
    const infeasible = stopReason === 'infeasible';
    const evidence = await this.#environment.captureEvidence({ finalUrl, answer, infeasible });
    const evidenceDigest = await this.#parts.store.blobs.putJson(evidence);
    const flags = this.#environment.flags();
    const { outcome, message } = await grade(benchmark, task, evidence, flags);
    return {
      outcome,
      stopReason,
      answer,
      finalUrl,
      finalObservationDigest: digest,
      evidenceDigest,
      verdictMessage: message,
      flags,
    };
  }
}

function differs({ index, action }: StepRecord, what: string): DeadAttempt {
  return { deadBecause: `cannot be resumed: at step ${index} (${action.tool}) ${what} than recorded` };
}

function endsRollout({ tool }: Action): boolean {
  return tool === 'stop' || tool === 'infeasible';
}

function targetOf(action: Action, observation: Observation): StepRecord['target'] {
  const ref = 'ref' in action ? action.ref : null;
  const element = observation.elements.find((candidate) => candidate.ref === ref);
  if (element === undefined) return null;
  const { role, name, context } = element;
  return { role, name, context };
}

function traceStep({ index, urlBefore, urlAfter, action, target, result }: StepRecord): TraceStep {
  return { index, urlBefore, urlAfter, action, target, result };
}

/** How a run is paused and resumed: by a person through updates of its own workflow, which passes on what is said. */
import {
  allHandlersFinished,
  CancellationScope,
  type ChildWorkflowHandle,
  ContinueAsNew,
  condition,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  isCancellation,
  setHandler,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow';
import { cpu } from './activity-proxies.ts';
import { reasonOf } from './failures.ts';
import { besides, Gate } from './gate.ts';
import { controls } from './names.ts';

/** Returns once nothing of the run is under way, or it has ended or was resumed meanwhile. */
const pauseUpdate = defineUpdate<void, [reason: string]>(controls.pause);
/** Returns once the run is recorded as running; changes nothing for a run that is not paused. */
const resumeUpdate = defineUpdate<void>(controls.resume);

// Between the workflows of a run: a workflow can send another one signals only.
const closeSignal = defineSignal<[reason: string]>('close');
const openSignal = defineSignal('open');
/** From a shard or part: it has stopped, and why. */
const quietSignal = defineSignal<[workflowId: string, reason: string]>('quiet');

// ---- a shard or a part -------------------------------------------------------------------------------------

/** Runs a shard or a part, which stops at its gate when the run is paused. `closedFor`: why it begins paused. */
export function governedByRun<T>(closedFor: string | null, act: (gate: Gate) => Promise<T>): Promise<T> {
  const gate = new Gate(closedFor);
  setHandler(closeSignal, (reason) => gate.close(reason));
  setHandler(openSignal, () => gate.open());
  return besides(
    () => tellWhenQuiet(gate),
    () => act(gate),
  );
}

async function tellWhenQuiet(gate: Gate): Promise<never> {
  const { workflowId, parent } = workflowInfo();
  for (;;) {
    await condition(() => gate.isQuiet);
    if (parent !== undefined && gate.closedFor !== null) {
      await getExternalWorkflowHandle(parent.workflowId).signal(quietSignal, workflowId, gate.closedFor);
    }
    await gate.untilOpen();
  }
}

// ---- a run -------------------------------------------------------------------------------------------------

/**
 * Runs a whole run and records in the store what becomes of it: running, paused, completed, cancelled or failed, each
 * with the reason. `doing` says what it does while it runs.
 */
export async function governingRun<T>(
  runId: string,
  doing: string,
  act: (control: RunControl) => Promise<Completion<T>>,
): Promise<T> {
  const control = new RunControl(runId, doing);
  try {
    await control.begin();
    const { result, reason } = await besides(
      () => control.keep(),
      () => act(control),
    );
    // The last record: whoever asked for a pause was too late.
    await cpu.setRunState({ runId, state: 'completed', reason });
    return result;
  } catch (error) {
    if (!(error instanceof ContinueAsNew))
      await CancellationScope.nonCancellable(() => recordEnd(runId, error));
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => control.end());
  }
}

export interface Completion<T> {
  readonly result: T;
  readonly reason: string;
}

async function recordEnd(runId: string, error: unknown): Promise<void> {
  if (isCancellation(error)) await cpu.cancelRun({ runId });
  else await cpu.setRunState({ runId, state: 'failed', reason: reasonOf(error) });
}

export class RunControl {
  readonly gate = new Gate(null);
  readonly #runId: string;
  readonly #doing: string;
  /** Shards or parts that have not ended, and those of them that have stopped. */
  readonly #members = new Map<string, ChildWorkflowHandle<Workflow>>();
  readonly #quiet = new Set<string>();
  /** What the store was told last. */
  #recorded: 'nothing' | 'running' | 'paused' | 'end' = 'nothing';

  constructor(runId: string, doing: string) {
    this.#runId = runId;
    this.#doing = doing;
    setHandler(pauseUpdate, (reason) => this.#pause(reason), { validator: refuseEmpty });
    setHandler(resumeUpdate, () => this.#resume());
    setHandler(quietSignal, (workflowId, reason) => this.#onQuiet(workflowId, reason));
  }

  async begin(): Promise<void> {
    await cpu.setRunState({ runId: this.#runId, state: 'running', reason: this.#doing });
    this.#recorded = 'running';
  }

  /** Runs a shard or a part to its end. */
  async member<T extends Workflow>(
    start: () => Promise<ChildWorkflowHandle<T>>,
  ): Promise<Awaited<ReturnType<ChildWorkflowHandle<T>['result']>>> {
    const child = await this.gate.through(start);
    this.#members.set(child.workflowId, child);
    try {
      // It started while the others were told.
      if (this.gate.closedFor !== null) await child.signal(closeSignal, this.gate.closedFor);
      return await child.result();
    } finally {
      this.#members.delete(child.workflowId);
      this.#quiet.delete(child.workflowId);
    }
  }

  /** Passes on what is said and records what has come of it, one after another, so that records keep their order. */
  async keep(): Promise<never> {
    for (;;) {
      await condition(() => this.gate.isClosed);
      const reason = this.gate.closedFor ?? '';
      await this.#tellMembers((member) => member.signal(closeSignal, reason));
      await condition(() => this.#isQuiet || !this.gate.isClosed);
      if (this.#isQuiet) {
        await cpu.setRunState({ runId: this.#runId, state: 'paused', reason });
        this.#recorded = 'paused';
      }
      await this.gate.untilOpen();
      await this.begin();
      this.#quiet.clear();
      await this.#tellMembers((member) => member.signal(openSignal));
    }
  }

  /** Lets whoever waits for an update hear of it. */
  async end(): Promise<void> {
    this.#recorded = 'end';
    await condition(allHandlersFinished);
  }

  get #isQuiet(): boolean {
    return this.gate.isQuiet && [...this.#members.keys()].every((id) => this.#quiet.has(id));
  }

  async #pause(reason: string): Promise<void> {
    this.gate.close(reason);
    await condition(() => this.#recorded === 'paused' || this.#recorded === 'end' || !this.gate.isClosed);
  }

  async #resume(): Promise<void> {
    this.gate.open();
    await condition(() => this.#recorded === 'running' || this.#recorded === 'end');
  }

  /** A member stops by itself at a fault that the others would meet too: then the whole run pauses. */
  #onQuiet(workflowId: string, reason: string): void {
    if (!this.#members.has(workflowId)) return;
    this.#quiet.add(workflowId);
    this.gate.close(reason);
  }

  async #tellMembers(tell: (member: ChildWorkflowHandle<Workflow>) => Promise<void>): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => tell(member).catch(passCancellation)));
  }
}

/** A member that has just ended hears nothing, and need not. */
function passCancellation(error: unknown): void {
  if (isCancellation(error)) throw error;
}

function refuseEmpty(reason: string): void {
  if (reason.trim() === '') throw new Error('say why: a paused run shows its reason');
}

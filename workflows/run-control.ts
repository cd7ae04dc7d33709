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
import { records } from './activity-proxies.ts';
import { cancellationOr, reasonOf } from './failures.ts';
import { besides, type Closing, Gate } from './gate.ts';
import { controls } from './names.ts';

/** Returns once nothing of the run is under way, or it has ended or was resumed meanwhile. */
const pauseUpdate = defineUpdate<void, [reason: string]>(controls.pause);
/** Returns once the run is recorded as running, or is paused again; changes nothing for a run that is not paused. */
const resumeUpdate = defineUpdate<void>(controls.resume);

// Between the workflows of a run: a workflow can send another one signals only.
const closeSignal = defineSignal<[closing: Closing]>('close');
const openSignal = defineSignal<[openings: number]>('open');
/** From a shard or part: it has stopped, and why. */
const quietSignal = defineSignal<[workflowId: string, closing: Closing]>('quiet');

// ---- a shard or a part -------------------------------------------------------------------------------------

/** Continues a shard or a part as new; called when nobody is told anything any more, so that its gate is as it stands. */
export type Restart = () => Promise<never>;

/** Runs a shard or a part, which stops at its gate when the run is paused. `closing`: why it begins paused. */
export async function governedByRun(
  closing: Closing | null,
  act: (gate: Gate) => Promise<Restart | null>,
): Promise<void> {
  const gate = new Gate(closing);
  let opened = 0;
  // Whichever of the two comes late says nothing new.
  setHandler(closeSignal, (told) => {
    if ((told.order ?? opened) >= opened) gate.close(told);
  });
  setHandler(openSignal, (openings) => {
    opened = openings;
    if ((gate.closing?.order ?? 0) < openings) gate.open();
  });
  const restart = await besides(
    () => tellWhenQuiet(gate),
    () => act(gate),
  );
  await restart?.();
}

/** Once for each closing: signals may open the gate and close it again before anybody here has looked. */
async function tellWhenQuiet(gate: Gate): Promise<never> {
  const { workflowId, parent } = workflowInfo();
  let told: string | null = null;
  const current = () => `${gate.openings} ${gate.closing?.order}`;
  for (;;) {
    await condition(() => gate.isQuiet && current() !== told);
    if (!gate.isQuiet) continue;
    told = current();
    if (parent !== undefined && gate.closing !== null) {
      await getExternalWorkflowHandle(parent.workflowId).signal(quietSignal, workflowId, gate.closing);
    }
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
    await records.setRunState({ runId, state: 'completed', reason });
    return result;
  } catch (thrown) {
    const error = cancellationOr(thrown);
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
  if (isCancellation(error)) await records.cancelRun({ runId });
  else await records.setRunState({ runId, state: 'failed', reason: reasonOf(error) });
}

export class RunControl {
  readonly gate = new Gate(null);
  readonly #runId: string;
  readonly #doing: string;
  /** Shards or parts that have not ended, and those of them that have stopped. */
  readonly #members = new Map<string, ChildWorkflowHandle<Workflow>>();
  readonly #quiet = new Set<string>();
  /** What the store was told last; `nothing`: it is about to hear something else. */
  #recorded: 'nothing' | 'running' | 'paused' | 'end' = 'nothing';

  constructor(runId: string, doing: string) {
    this.#runId = runId;
    this.#doing = doing;
    setHandler(pauseUpdate, (reason) => this.#pause(reason), { validator: refuseEmpty });
    setHandler(resumeUpdate, () => this.#resume());
    setHandler(quietSignal, (workflowId, closing) => this.#onQuiet(workflowId, closing));
  }

  async begin(): Promise<void> {
    await records.setRunState({ runId: this.#runId, state: 'running', reason: this.#doing });
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
      if (this.gate.closing !== null) await child.signal(closeSignal, this.#closing(this.gate.closing));
      return await child.result();
    } finally {
      this.#members.delete(child.workflowId);
      this.#quiet.delete(child.workflowId);
    }
  }

  /** Passes on what is said and records what has come of it, one after another, so that records keep their order. */
  async keep(): Promise<never> {
    const { gate } = this;
    for (;;) {
      const closing = await gate.untilClosed();
      const { openings } = gate;
      await this.#tellMembers((member) => member.signal(closeSignal, this.#closing(closing)));
      await condition(() => this.#isQuiet || gate.openings > openings);
      if (gate.openings === openings) {
        this.#recorded = 'nothing';
        await records.setRunState({ runId: this.#runId, state: 'paused', reason: closing.reason });
        if (gate.openings === openings) this.#recorded = 'paused';
      }
      await condition(() => gate.openings > openings);
      await this.begin();
      await this.#tellMembers((member) => member.signal(openSignal, gate.openings));
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
    this.gate.close({ reason, order: null });
    await condition(() => this.#recorded === 'paused' || this.#recorded === 'end' || !this.gate.isClosed);
  }

  async #resume(): Promise<void> {
    if (this.gate.isClosed) {
      this.gate.open();
      this.#quiet.clear();
      if (this.#recorded === 'paused') this.#recorded = 'nothing';
    }
    await condition(() => this.#recorded === 'running' || this.#recorded === 'end' || this.gate.isClosed);
  }

  /** How often the gate was opened before is the number of this closing. */
  #closing({ reason }: Closing): Closing {
    return { reason, order: this.gate.openings };
  }

  /**
   * A member stops by itself at a failure that the others would meet too: then the whole run pauses. One that answers
   * a pause that was taken back meanwhile does not count.
   */
  #onQuiet(workflowId: string, { reason, order }: Closing): void {
    if (!this.#members.has(workflowId)) return;
    if (order === null) this.gate.close({ reason, order });
    else if (this.gate.isClosed && order === this.gate.openings) this.#quiet.add(workflowId);
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

/**
 * What every benchmark offers the house, and what the house may assume of it.
 * A benchmark's oddity (ports, resets, answer keys, grading languages) lives behind these types.
 */

/** `unrated`: the benchmark does not say. */
export type Difficulty = 'easy' | 'medium' | 'hard' | 'unrated';
/** Evaluation tasks never reach training (invariant 14). */
export type Split = 'train' | 'heldout';

/** Why a task's result says less than others do: reports show rates with and without such tasks. */
export interface Caveat {
  /**
   * `vacuous`: passes untouched. `impossible`: cannot be done by mouse and keyboard. `unsolved`: the benchmark's own
   * solution does not pass.
   */
  readonly kind: 'vacuous' | 'impossible' | 'unsolved';
  /** A sentence. */
  readonly reason: string;
}

export interface Viewport {
  readonly widthPx: number;
  readonly heightPx: number;
}

/** A task as every part of the house sees it: data only, safe to print, to hash and to store. */
export interface Task {
  /** Unique over all benchmarks: `<benchmark>/<app>/<name>`. */
  readonly id: string;
  readonly benchmark: string;
  readonly app: string;
  readonly instruction: string;
  /** Canonical (`http://mail.sandbox/inbox`), never a host and port of the day. */
  readonly startUrl: string;
  /** Canonical hosts that the agent may visit; anything else is refused by the environment. */
  readonly allowedHosts: readonly string[];
  readonly difficulty: Difficulty;
  readonly split: Split;
  readonly provenance: { readonly source: 'template' | 'benchmark' | 'synthesis'; readonly ref: string };
  readonly viewport: Viewport;
  /** Browser steps before the rollout is stopped and graded as it stands. */
  readonly maxSteps: number;
  /** True where the outcome verifier reads the final answer. */
  readonly expectsAnswer: boolean;
  /** Digests of images that belong to the instruction (VWA). */
  readonly imageDigests: readonly string[];
  /** Named subsets of its benchmark that the task belongs to; absent where there are none. */
  readonly suites?: readonly string[];
  /** Absent for a sound task. */
  readonly caveats?: readonly Caveat[];
}

/** One tool call of a web agent. `ref` names an element of the observation it was chosen from. */
export type Action =
  | { readonly tool: 'click'; readonly ref: string; readonly kind: 'single' | 'double' | 'right' }
  | {
      readonly tool: 'type';
      readonly ref: string;
      readonly text: string;
      readonly clear: boolean;
      readonly submit: boolean;
    }
  | { readonly tool: 'select'; readonly ref: string; readonly option: string }
  | { readonly tool: 'check'; readonly ref: string; readonly checked: boolean }
  | { readonly tool: 'press'; readonly key: string }
  | {
      readonly tool: 'scroll';
      readonly ref: string | null;
      readonly direction: 'up' | 'down' | 'left' | 'right';
    }
  | { readonly tool: 'hover'; readonly ref: string }
  | { readonly tool: 'drag'; readonly ref: string; readonly toRef: string }
  | { readonly tool: 'back' }
  | { readonly tool: 'navigate'; readonly url: string }
  | { readonly tool: 'tab'; readonly index: number }
  | { readonly tool: 'find'; readonly text: string }
  | { readonly tool: 'wait' }
  | { readonly tool: 'stop'; readonly answer: string | null }
  | { readonly tool: 'infeasible'; readonly reason: string };

export type ElementState =
  | 'checked'
  | 'unchecked'
  | 'selected'
  | 'expanded'
  | 'collapsed'
  | 'disabled'
  | 'focused'
  | 'on'
  | 'off'
  | 'required'
  | 'offscreen'
  | 'in-dialog';

/** One element that an action may name. */
export interface ObservedElement {
  /** Valid for this observation only: pages re-render after each action. */
  readonly ref: string;
  /** ARIA role, explicit or implied by the tag. */
  readonly role: string;
  /** Accessible name, one line. */
  readonly name: string;
  /** Current value of a field, null for anything that has none. */
  readonly value: string | null;
  /** Choices of a list box, empty for anything else. */
  readonly options: readonly string[];
  readonly states: readonly ElementState[];
  /** Text of the row, card or form group that holds the element: tells eight "Edit" buttons apart. */
  readonly context: string;
  /** Nearest heading above the element, '' if there is none. */
  readonly heading: string;
  /** What lies over the element (a dialog's title), null if a click would reach it. */
  readonly coveredBy: string | null;
}

export interface ObservedTab {
  readonly index: number;
  readonly url: string;
  readonly title: string;
  readonly active: boolean;
}

/** A long list of which a page that exceeds its budget shows only some rows: equal rows make room first. */
export interface LeftOutRows {
  /** Text of the first row, 80 characters at most. */
  readonly like: string;
  readonly heading: string;
  readonly rows: number;
  readonly leftOut: number;
}

/** The page as the policy reads it: structured elements beside the text that a person would see. */
export interface Observation {
  /** Canonical. */
  readonly url: string;
  readonly title: string;
  readonly tabs: readonly ObservedTab[];
  readonly elements: readonly ObservedElement[];
  /** Visible text in reading order, one block a line. */
  readonly text: string;
  readonly scroll: { readonly topPx: number; readonly heightPx: number; readonly viewportPx: number };
  /** True when the text or the elements were cut to their budget. */
  readonly truncated: boolean;
  /** Absent where no rows were left out. */
  readonly leftOut?: readonly LeftOutRows[];
}

/** What became of one action. A refusal is data for the policy, never an exception. */
export type ActionResult =
  | { readonly ok: true; readonly note: string | null }
  | {
      readonly ok: false;
      readonly code:
        | 'stale'
        | 'covered'
        | 'disabled'
        | 'not-editable'
        | 'no-such-option'
        | 'not-allowed'
        | 'not-found'
        | 'timeout'
        | 'invalid';
      readonly message: string;
    };

/** Role, name and context of the element that an action named, kept because refs die with the page. */
export interface ActionTarget {
  readonly role: string;
  readonly name: string;
  readonly context: string;
}

/** One line of the compact trace that judges, self-verifiers and policies read. */
export interface TraceStep {
  /** Browser step, from 0. */
  readonly index: number;
  readonly urlBefore: string;
  readonly urlAfter: string;
  readonly action: Action;
  readonly target: ActionTarget | null;
  readonly result: ActionResult;
}

/**
 * A named milestone that the rubric judge reads off the recorded trace, never off the final state: the judge
 * must not be the outcome verifier in disguise.
 */
export interface Subgoal {
  readonly id: string;
  /** A sentence for rationales, in the past tense. */
  readonly description: string;
  /** Positive weights of a task sum to 1; a negative one is a mistake (a destructive control used). */
  readonly weight: number;
  /** Index of the first step that brought it about, null if none did. */
  readonly reachedAt: (steps: readonly TraceStep[], answer: string | null) => number | null;
}

/** Whatever grading needs, captured before teardown so that it can be repeated offline for ever. */
export interface Evidence {
  readonly taskId: string;
  /** The application's final state, benchmark-specific JSON; null where the benchmark has none. */
  readonly state: unknown;
  readonly finalUrl: string;
  readonly answer: string | null;
  /** True when the rollout declared the task infeasible. */
  readonly infeasible: boolean;
}

/** A verdict of the benchmark's own program. `invalid`: a guard tripped. */
export type Verdict =
  | { readonly kind: 'success'; readonly message: string }
  | { readonly kind: 'failure'; readonly message: string }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'insufficient_evidence'; readonly message: string };

/** A flagged request: the page or the agent reached for something outside the task. */
export interface GuardFlag {
  readonly rule: string;
  readonly detail: string;
  /** True when the rollout's result can no longer count. */
  readonly invalidates: boolean;
}

/** One request of the browser. Bodies are not kept: what they did is in the application's state. */
export interface LoggedRequest {
  /** Since the environment was opened. */
  readonly atMs: number;
  readonly method: string;
  /** Canonical; for a tunnel host and port. 500 characters at most. */
  readonly url: string;
  /** Null: not answered. */
  readonly status: number | null;
  /** Rules of the guard flags that it raised. */
  readonly flags: readonly string[];
}

export interface RequestLog {
  readonly requests: readonly LoggedRequest[];
  /** How many more there were than are kept. */
  readonly dropped: number;
}

/** One life of a task's application: what an attempt runs against. */
export interface Environment {
  /**
   * All traffic of the browser context goes through this proxy, so the environment decides which hosts exist,
   * isolates its state from its neighbours and logs every request. Null for live sites.
   */
  readonly proxyServer: string | null;
  /** JavaScript expression that tells how many operations the page still waits for; null: settle on DOM quiet. */
  readonly pendingExpression: string | null;
  /** Digest of the application's whole state right after reset: equal for equal (task, seed). */
  readonly initialStateDigest: string;
  stateDigest(): Promise<string>;
  captureEvidence(final: {
    readonly finalUrl: string;
    readonly answer: string | null;
    readonly infeasible: boolean;
  }): Promise<Evidence>;
  flags(): readonly GuardFlag[];
  requestLog(): RequestLog;
  close(): Promise<void>;
}

/** What knows the solution of every task: for tests and the doctor, never for a page. */
export type Oracle =
  /** Acts on the page like a policy. */
  | {
      readonly kind: 'agent';
      act(task: Task, observation: Observation, history: readonly TraceStep[]): Action;
    }
  /** Turns the evidence of an untouched app, the same for all tasks of the app, into that of a solved task. */
  | { readonly kind: 'state'; solve(task: Task, untouched: Evidence): Promise<Evidence> };

export interface Benchmark {
  readonly name: string;
  /** Changes whenever tasks, apps or verifiers change; part of a run's identity. */
  readonly revision: string;
  /** True where an environment can be reset to equal bytes, so that an attempt can be resumed. */
  readonly resettable: boolean;
  /** Frozen clock of the pages (ISO 8601, UTC), null for the real one. */
  readonly clock: string | null;
  readonly tasks: readonly Task[];
  open(task: Task, signal: AbortSignal): Promise<Environment>;
  /** Pure: same task and evidence, same verdict, offline. Throws only on a defect of the verifier itself. */
  grade(task: Task, evidence: Evidence): Promise<Verdict>;
  /** Absent where nobody knows the solutions. */
  readonly oracle?: Oracle;
}

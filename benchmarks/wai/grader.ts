import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** One of the benchmark's programs failed, or could not be run: says nothing about the state it was given. */
export class GraderError extends Error {
  override readonly name = 'GraderError';
}

export interface ProgramVerdict {
  readonly passed: boolean;
  readonly message: string;
}

type Job =
  | { readonly do: 'verify'; readonly file: string }
  | { readonly do: 'solve'; readonly file: string; readonly task: string };

const errorSchema = z.strictObject({ error: z.string() });
const verdictSchema = z.strictObject({ passed: z.boolean(), message: z.string() });
const solvedSchema = z.strictObject({ state: z.unknown() });

const PROGRAM = fileURLToPath(new URL('python/grader.py', import.meta.url));
/** A verifier takes milliseconds; the first one also waits for Python to start. */
const DEFAULT_LIMIT_MS = 30_000;
const ERROR_TAIL = 500;
/** What Python adds to the limit before it ends itself: it must not come before us. */
const ORPHAN_GRACE_MS = 2_000;

/**
 * The benchmark's Python programs, run unchanged in one process that is started at need and started again after it
 * died. One program runs at a time. An idle process does not keep ours alive, and ends with it.
 */
export class Grader {
  readonly #limitMs: number;
  #process: PythonProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(limitMs = DEFAULT_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** The verdict of an outcome verifier. Throws `GraderError` when it fails, hangs or ends the process. */
  async verify(file: string, state: unknown): Promise<ProgramVerdict> {
    return verdictSchema.parse(await this.#run({ do: 'verify', file }, state));
  }

  /** The state after the benchmark's own solution of a task. Throws `GraderError` like `verify`. */
  async solve(file: string, task: string, state: unknown): Promise<unknown> {
    return solvedSchema.parse(await this.#run({ do: 'solve', file, task }, state)).state;
  }

  close(): void {
    this.#process?.kill();
    this.#process = null;
  }

  async #run(job: Job, state: unknown): Promise<unknown> {
    const turn = this.#last.then(() => this.#runNow(job, state));
    this.#last = turn.catch(() => undefined);
    const reply = await turn;
    const failed = errorSchema.safeParse(reply);
    if (failed.success) throw new GraderError(`${job.file}: ${failed.data.error}`);
    return reply;
  }

  async #runNow(job: Job, state: unknown): Promise<unknown> {
    if (this.#process === null || this.#process.hasEnded) this.#process = new PythonProcess();
    const python = this.#process;
    const tooLong = () => python.kill(`${job.file} did not end within ${this.#limitMs} ms and was stopped`);
    const timer = setTimeout(tooLong, this.#limitMs);
    try {
      return await python.ask({ ...job, ends_after_s: (this.#limitMs + ORPHAN_GRACE_MS) / 1000 }, state);
    } finally {
      clearTimeout(timer);
    }
  }
}

class PythonProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  #waiting: PromiseWithResolvers<unknown> | null = null;
  #errors = '';
  #hasEnded = false;

  constructor() {
    // Isolated: no script directory, user packages or environment; a directory where no version manager interferes.
    this.#child = spawn('python3', ['-I', PROGRAM], { cwd: tmpdir() });
    this.#child.on('error', ({ message }) => {
      this.#end(`python3 cannot be started (${message}): install Python 3.9 or later`);
    });
    this.#child.on('close', () => this.#end('Python ended'));
    this.#child.stdin.on('error', () => this.#end('Python ended'));
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#errors = (this.#errors + text).slice(-ERROR_TAIL);
    });
    createInterface(this.#child.stdout).on('line', (line) => this.#waiting?.resolve(line));
    this.#holdOurs(false);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** One job at a time. */
  async ask(job: Job & { readonly ends_after_s: number }, state: unknown): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting = waiting;
    this.#holdOurs(true);
    try {
      this.#child.stdin.write(`${JSON.stringify(job)}\n${JSON.stringify(state)}\n`);
      return JSON.parse(z.string().parse(await waiting.promise));
    } finally {
      this.#waiting = null;
      this.#holdOurs(false);
    }
  }

  kill(reason = 'the grader was closed'): void {
    this.#end(reason);
    this.#child.kill('SIGKILL');
  }

  #end(reason: string): void {
    this.#hasEnded = true;
    const details = this.#errors.trim();
    this.#waiting?.reject(new GraderError(details === '' ? reason : `${reason}: ${details}`));
  }

  /** Whether the process and its pipes keep this one from ending. */
  #holdOurs(hold: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    const pipes = [stdin, stdout, stderr].filter((pipe) => pipe instanceof Socket);
    for (const handle of [this.#child, ...pipes]) {
      if (hold) handle.ref();
      else handle.unref();
    }
  }
}

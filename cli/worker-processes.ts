import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tailOfLog } from '../infra/processes.ts';
import type { Stack } from '../infra/stack.ts';
import { childEnvironment, type Settings } from '../workers/settings.ts';
import type { TaskQueue } from '../workflows/names.ts';

export interface WorkerProcesses {
  /** Rejects when a process dies more often than it is worth starting again. */
  readonly failed: Promise<never>;
  /** Lets running activities end, then ends the processes. */
  stop(): Promise<void>;
}

/** A process that dies this often within the window has a fault that no restart mends. */
const MAX_RESTARTS = 10;
const RESTART_WINDOW_MS = 120_000;
const RESTART_DELAY_MS = 500;
/** A worker cannot start while a server is away: with this pause the restarts outlast a minute of that. */
const LONGEST_DELAY_MS = 10_000;
/** Beyond the grace of a drain; longer than the workers' own forced shutdown. */
const STOP_WAIT_MS = 45_000;
const START_WAIT_MS = 60_000;

export interface WorkerSurroundings {
  readonly settings: Settings;
  readonly stack: Stack;
  /** Null where no role needs a browser. */
  readonly chromiumPath: string | null;
}

/**
 * Starts one process a role set, and starts it again when it is killed: its activities are retried elsewhere. One
 * that ends by itself was drained on purpose; then `failed` rejects.
 */
export async function startWorkerProcesses(
  { settings, stack, chromiumPath }: WorkerSurroundings,
  roleSets: readonly (readonly TaskQueue[])[],
): Promise<WorkerProcesses> {
  const environment = childEnvironment({
    CLIFT_HOME: settings.home,
    CLIFT_CACHE: settings.cacheDirectory,
    CLIFT_CHROMIUM: chromiumPath ?? '',
    CLIFT_DRAIN_GRACE_S: String(settings.drainGraceS),
    CLIFT_WAI_ROOT: settings.waiRoot ?? '',
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    DATABASE_URL: stack.databaseUrl,
    OPENAI_BASE_URL: settings.modelBaseUrls.openai ?? '',
    ANTHROPIC_BASE_URL: settings.modelBaseUrls.anthropic ?? '',
  });
  const supervisors = roleSets.map((roles) => new Supervisor(settings, roles, environment));
  const stop = async () => {
    await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
  };
  try {
    await Promise.all(supervisors.map((supervisor) => supervisor.start()));
  } catch (error) {
    // One that does not start would be started again and again, for a command that has given up.
    await stop();
    throw error;
  }
  return { failed: Promise.race(supervisors.map((supervisor) => supervisor.failed)), stop };
}

class Supervisor {
  readonly failed: Promise<never>;
  readonly #settings: Settings;
  readonly #roles: readonly TaskQueue[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #logPath: string;
  #giveUp: (error: Error) => void = () => {};
  #child: ChildProcess | null = null;
  #restarts: number[] = [];
  #stopping = false;

  constructor(settings: Settings, roles: readonly TaskQueue[], environment: NodeJS.ProcessEnv) {
    this.#settings = settings;
    this.#roles = roles;
    this.#environment = environment;
    const logs = join(settings.home, 'logs');
    mkdirSync(logs, { recursive: true });
    this.#logPath = join(logs, `worker-${roles.join('-')}.log`);
    this.failed = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    // Somebody may never wait for it; a rejection must not end the process by itself.
    this.failed.catch(() => {});
  }

  async start(): Promise<void> {
    const log = openSync(this.#logPath, 'a');
    const child = fork(join(this.#settings.projectDirectory, 'workers/worker.ts'), [...this.#roles], {
      // Its own group: Ctrl-C in the terminal reaches the command alone, which then drains its workers.
      detached: true,
      env: this.#environment,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    child.once('exit', (code, signal) => this.#onExit(code, signal));
    const ready = once(child, 'message', { signal: AbortSignal.timeout(START_WAIT_MS) });
    const ended = once(child, 'exit').then(() => {
      throw new Error(`the worker for ${this.#roles.join(', ')} ended at start.${tailOfLog(this.#logPath)}`);
    });
    await Promise.race([ready, ended]);
    ended.catch(() => {});
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#stopping) return;
    if (code === 0) {
      this.#giveUp(
        new Error(
          `the worker for ${this.#roles.join(', ')} was drained; everything finished is kept, and the same command continues`,
        ),
      );
      return;
    }
    const now = Date.now();
    this.#restarts = [...this.#restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.#restarts.length > MAX_RESTARTS) {
      const how = signal ?? `code ${code}`;
      this.#giveUp(
        new Error(`the worker for ${this.#roles.join(', ')} keeps ending (${how}); see ${this.#logPath}`),
      );
      return;
    }
    void sleep(Math.min(LONGEST_DELAY_MS, RESTART_DELAY_MS * 2 ** (this.#restarts.length - 1)))
      .then(() => (this.#stopping ? undefined : this.start()))
      .catch(() => {
        // The exit handler of that process counts it.
      });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const waitMs = 1_000 * this.#settings.drainGraceS + STOP_WAIT_MS;
    const timer = setTimeout(() => child.kill('SIGKILL'), waitMs);
    await exited;
    clearTimeout(timer);
  }
}

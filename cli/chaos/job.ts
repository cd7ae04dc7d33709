/** The job under attack: the demo, as a user runs it, in a home of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import { childEnvironment, type Settings } from '../../workers/settings.ts';

const reportSchema = z.object({
  arms: z.array(z.unknown()),
  selection: z.array(z.unknown()),
  digests: z.object({ bank: z.string(), adapter: z.string().nullable(), selections: z.string() }),
});

export type JobResult = z.infer<typeof reportSchema>;

export interface JobSpec {
  readonly settings: Settings;
  /** Experiment file. */
  readonly config: string;
  readonly chromiumPath: string;
  /** Where the job finds what chaos put in between: servers behind links, model servers. */
  readonly environment: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
}

/** Every role can be killed by itself, and a rollout has somewhere else to go on. */
const APART = 'browser; browser; orchestrator; llm; judge; cpu; gpu';

/** Commands that end by themselves this often have a fault that starting them again does not mend. */
const MAX_SURRENDERS = 5;

/** A command that is started again whenever it ends before its work is done, as its message tells the user to do. */
export class Job {
  readonly #spec: JobSpec;
  readonly result: Promise<JobResult>;
  /** What the command said when it gave up by itself, unasked. */
  readonly surrenders: string[] = [];
  #child: ChildProcess | null = null;
  #isOver = false;
  #isKilled = false;

  constructor(spec: JobSpec) {
    this.#spec = spec;
    this.result = this.#run();
    this.result.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Kills the command; it is started again. False when it was not there. */
  kill(): boolean {
    this.#isKilled = this.#child?.kill('SIGKILL') ?? false;
    return this.#isKilled;
  }

  /** Ends the command for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async #run(): Promise<JobResult> {
    try {
      for (;;) {
        const { code, stdout, stderr } = await this.#command();
        if (code === 0) return reportSchema.parse(JSON.parse(stdout));
        if (this.#isOver) throw new Error('the job was ended');
        if (!this.#isKilled) this.#surrender(stderr.trim().split('\n').at(-1) ?? '');
        this.#isKilled = false;
        if (this.surrenders.length > MAX_SURRENDERS) {
          throw new Error(`the job keeps ending by itself:\n${stderr.slice(-2_000)}`);
        }
      }
    } finally {
      this.#isOver = true;
    }
  }

  #surrender(why: string): void {
    this.surrenders.push(why);
    this.#spec.say(`The command ended by itself and is started again: ${why}`);
  }

  async #command(): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { settings, config, chromiumPath, environment } = this.#spec;
    const child = spawn(
      process.execPath,
      [join(settings.projectDirectory, 'cli/main.ts'), 'demo', '--config', config, '--json'],
      {
        cwd: settings.projectDirectory,
        env: childEnvironment({
          CLIFT_HOME: settings.home,
          CLIFT_CACHE: settings.cacheDirectory,
          CLIFT_CHROMIUM: chromiumPath,
          CLIFT_WORKERS: APART,
          // Any free port: several workers may be asked to open theirs.
          NODE_OPTIONS: '--inspect-port=0',
          TEMPORAL_ADDRESS: '',
          TEMPORAL_PROFILE: '',
          TEMPORAL_CONFIG_FILE: '',
          DATABASE_URL: '',
          ...environment,
        }),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#child = child;
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    return { code: z.int().nullable().parse(code), stdout, stderr };
  }
}

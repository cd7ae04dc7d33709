import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { z } from 'zod';
import { stopStack } from '../../infra/stack.ts';
import { settingsForHome } from '../support/settings.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

export const reportSchema = z.object({
  arms: z.array(z.looseObject({})),
  digests: z.object({ bank: z.string(), adapter: z.string().nullable(), selections: z.string() }),
});

export type DemoResult = z.infer<typeof reportSchema>;

/** A home of its own for one demo, with the processes that it runs. */
export class DemoHome {
  readonly path = mkdtempSync(join(tmpdir(), 'clift-demo-'));

  start(config = 'small.yaml', ...options: readonly string[]): DemoRun {
    return this.clift('demo', '--config', `test/end-to-end/${config}`, '--json', ...options);
  }

  /** Any other verb. */
  clift(...words: readonly string[]): DemoRun {
    const child = spawn(process.execPath, ['cli/main.ts', ...words], {
      ...{ cwd: project, env: this.#environment() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new DemoRun(child);
  }

  /** Everything that the demo says of itself is in its own settings; the user's cluster is none of it. */
  #environment(): NodeJS.ProcessEnv {
    const { cacheDirectory, searchPath } = settingsForHome(this.path);
    return {
      PATH: searchPath.join(':'),
      CLIFT_HOME: this.path,
      CLIFT_CACHE: cacheDirectory,
      CLIFT_CHROMIUM: inject('chromiumPath'),
    };
  }

  async close(): Promise<void> {
    await stopStack(settingsForHome(this.path));
    rmSync(this.path, { recursive: true, force: true });
  }
}

export class DemoRun {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
  }

  async result(): Promise<DemoResult> {
    await this.ended();
    if (this.child.exitCode !== 0)
      throw new Error(`the demo ended with ${this.child.exitCode}:\n${this.stderr}`);
    return reportSchema.parse(JSON.parse(this.stdout));
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** Pids of processes with this text in their command line, children of the given home only. */
export function processesOf(home: string, text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const commandLine = readProcess(pid, 'cmdline')?.replaceAll('\0', ' ');
      const environment = readProcess(pid, 'environ');
      return (
        commandLine?.includes(text) &&
        (environment?.includes(`CLIFT_HOME=${home}\0`) || commandLine.includes(home))
      );
    });
}

function readProcess(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await condition()) return;
    await sleep(100);
  }
  throw new Error(`waited two minutes in vain: ${what}`);
}

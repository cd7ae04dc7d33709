import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

export interface CommandResult {
  readonly ok: boolean;
  readonly output: string;
  /** Why it failed, in one line; empty when it did not. */
  readonly failure: string;
}

/** The user that a command runs as, by its numbers. */
export interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

/** Runs a command to its end, without a shell. A missing command, a timeout or a bad exit status is a value. */
export function runCommand(
  command: string,
  args: readonly string[],
  timeoutMs: number,
  user?: OsUser,
): Promise<CommandResult> {
  const options = {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_LIMIT_BYTES,
    ...user,
  } as const;
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) return resolve({ ok: true, output: stdout, failure: '' });
      const failure = error.killed
        ? `took longer than ${timeoutMs / 1000} s`
        : (tellingLine(stderr) ?? tellingLine(stdout) ?? error.message);
      resolve({ ok: false, output: stdout, failure });
    });
  });
}

/** The first line that speaks of an error is nearest to the cause; without one, the last line. */
function tellingLine(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /\berror\b|^E: /i.test(line)) ?? lines.at(-1))?.trim();
}

/** Path of the first of `names` that is an executable file in one of the directories. */
export function findExecutable(names: readonly string[], searchPath: readonly string[]): string | undefined {
  return names
    .flatMap((name) => searchPath.map((directory) => join(directory, name)))
    .find((path) => isExecutable(path));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

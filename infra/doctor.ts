import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import type { Settings } from '../workers/settings.ts';
import { findChromium } from './chromium.ts';
import { runCommand } from './commands.ts';
import { findPostgresPrograms } from './postgres-programs.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { searchAttributeCommands } from './temporal-namespace.ts';

/** What the doctor says about one part. `optional` is missing too, but nothing of the default needs it. */
export interface Finding {
  readonly part: string;
  readonly state: 'found' | 'missing' | 'optional';
  readonly detail: string;
  /** The exact command or step that brings it; absent when found. */
  readonly fix?: string;
}

const COMMAND_TIMEOUT_MS = 20_000;
const FREE_GIB_NEEDED = 3;
const BRING_IT = './clift up';

/** Looks at every part without starting or installing anything. */
export async function examine(settings: Settings): Promise<Finding[]> {
  const examinations: Readonly<Record<string, (settings: Settings) => Promise<Omit<Finding, 'part'>>>> = {
    'Node.js': async () => found(`${process.version} at ${process.execPath}`),
    Packages: examinePackages,
    Chromium: examineChromium,
    Temporal: examineTemporal,
    Postgres: examinePostgres,
    Python: examinePython,
    Disk: examineDisk,
    GPU: examineGpu,
    'Model keys': examineKeys,
  };
  return Promise.all(
    Object.entries(examinations).map(async ([part, examinePart]) => {
      try {
        return { part, ...(await examinePart(settings)) };
      } catch (error) {
        const [detail = '', ...fix] = (error instanceof Error ? error.message : String(error)).split('\n');
        return { part, ...missing(detail, fix.join(' ') || BRING_IT) };
      }
    }),
  );
}

function found(detail: string): Omit<Finding, 'part'> {
  return { state: 'found', detail };
}

function missing(detail: string, fix: string): Omit<Finding, 'part'> {
  return { state: 'missing', detail, fix };
}

function optional(detail: string, fix: string): Omit<Finding, 'part'> {
  return { state: 'optional', detail, fix };
}

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

async function examinePackages({ projectDirectory }: Settings) {
  const manifest = manifestSchema.parse(
    JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8')),
  );
  const names = Object.keys(manifest.dependencies);
  const absent = names.filter((name) => !existsSync(join(projectDirectory, 'node_modules', name)));
  if (absent.length > 0) return missing(`not installed: ${absent.join(', ')}`, 'npm ci');
  return found(`${names.length} direct dependencies in ${join(projectDirectory, 'node_modules')}`);
}

async function examineChromium(settings: Settings) {
  const chromium = await findChromium(settings);
  if (chromium) return found(`${chromium.kind} ${chromium.version} at ${chromium.executablePath}`);
  return missing('no Chromium on PATH, in the cache or in Playwright’s own', BRING_IT);
}

async function examineTemporal(settings: Settings) {
  const { temporalConnection, temporalNamespace } = settings;
  if (temporalConnection) {
    const commands = await searchAttributeCommands(temporalConnection, temporalNamespace);
    const place = `cluster at ${temporalConnection.address}, namespace ${temporalNamespace}`;
    return commands.length === 0
      ? found(place)
      : missing(`search attributes in ${place}`, commands.join(' && '));
  }
  const program = findTemporalCli(settings);
  if (program) return found(`development server at ${program}`);
  return missing('no `temporal` on PATH or in the cache', BRING_IT);
}

async function examinePostgres({ databaseUrl }: Settings) {
  if (databaseUrl === undefined) {
    const { version, root } = findPostgresPrograms();
    return found(`embedded ${version} at ${root}`);
  }
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return found(`server ${rows[0]?.server_version} of DATABASE_URL`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return missing(
      `DATABASE_URL does not answer: ${reason}`,
      'correct DATABASE_URL, or unset it to use the embedded server',
    );
  } finally {
    await client.end().catch(() => {});
  }
}

async function examinePython(settings: Settings) {
  const pip = await runCommand('python3', ['-m', 'pip', '--version'], COMMAND_TIMEOUT_MS);
  if (pip.ok) return found(pip.output.trim());
  const fix = 'install Python 3 with pip (on Debian: apt-get install python3-pip)';
  const detail = `python3 -m pip: ${pip.failure}`;
  const isNeeded = settings.temporalConnection === undefined && findTemporalCli(settings) === undefined;
  return isNeeded ? missing(`${detail}; pip fetches the Temporal server`, fix) : optional(detail, fix);
}

async function examineDisk({ home }: Settings) {
  const { bavail, bsize } = statfsSync(existingAncestor(home));
  const freeGib = (bavail * bsize) / 2 ** 30;
  const detail = `${freeGib.toFixed(1)} GiB free for ${home}`;
  if (freeGib >= FREE_GIB_NEEDED) return found(detail);
  return missing(
    `${detail}; ${FREE_GIB_NEEDED} GiB are needed`,
    'free some space, or set CLIFT_HOME to a larger disk',
  );
}

function existingAncestor(directory: string): string {
  return existsSync(directory) ? directory : existingAncestor(dirname(directory));
}

async function examineGpu() {
  const { ok, output } = await runCommand('nvidia-smi', ['-L'], COMMAND_TIMEOUT_MS);
  if (ok) return found(output.trim().split('\n').join(', '));
  return optional(
    'none; the embedded policy trains on the CPU',
    'for LoRA training, install the NVIDIA driver',
  );
}

async function examineKeys({ anthropicApiKey, openaiApiKey }: Settings) {
  const names = [anthropicApiKey && 'ANTHROPIC_API_KEY', openaiApiKey && 'OPENAI_API_KEY'].filter(Boolean);
  if (names.length > 0) return found(`${names.join(' and ')} set`);
  return optional(
    'none; the embedded models need no key',
    'for model providers, export ANTHROPIC_API_KEY or OPENAI_API_KEY',
  );
}

import { join, resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { modelAddressSchema } from '../activities/model-config.ts';
import { type TaskQueue, taskQueues } from '../workflows/names.ts';

/** How to reach a Temporal cluster; fits both `Connection.connect` and `NativeConnection.connect`. */
export interface TemporalConnection {
  readonly address: string;
  readonly tls?: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']['tls']>;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

/** The place where this process runs. Read once, from the environment; never part of a run's identity. */
export interface Settings {
  readonly projectDirectory: string;
  /** State of the embedded stack: databases, blobs, logs. */
  readonly home: string;
  /** Downloads, which several homes may share. */
  readonly cacheDirectory: string;
  readonly blobDirectory: string;
  readonly searchPath: readonly string[];
  /** Absent: the embedded server is used. */
  readonly temporalConnection?: TemporalConnection;
  readonly temporalNamespace: string;
  readonly temporalCliPath?: string;
  /** Whether the embedded server also serves Temporal's web UI. */
  readonly temporalUi: boolean;
  /** Absent: the embedded server is used. */
  readonly databaseUrl?: string;
  readonly chromiumPath?: string;
  /** The user's checkout of WebArena-Infinity. */
  readonly waiRoot?: string;
  /** Browser contexts that a worker runs at the same time. */
  readonly browserSlots: number;
  /** Roles of each worker process that a command starts. Absent: the browser apart, everything else together. */
  readonly workerRoles?: readonly (readonly TaskQueue[])[];
  /** How long a worker that is told to end lets its activities go on, in seconds; then others take them over. */
  readonly drainGraceS: number;
  readonly anthropicApiKey?: string;
  readonly openaiApiKey?: string;
  /** Where a provider's models are served here, in place of the provider's own address. */
  readonly modelBaseUrls: { readonly openai?: string; readonly anthropic?: string };
  /** Gets a line for every request to a model server; absent: nothing is written. */
  readonly modelTraceFile?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const EMBEDDED_NAMESPACE = 'clift';
/** Enough for short activities; a rollout resumes elsewhere, and whoever presses Ctrl-C wants to leave. */
const DEFAULT_DRAIN_GRACE_S = 2;
/** Comfortable on two cores; CPU, not memory, is the limit. */
const DEFAULT_BROWSER_SLOTS = 8;

/** An empty variable counts as unset: that is how shells and compose files switch one off. */
const text = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

const modelAddress = text.pipe(modelAddressSchema.optional());

const environmentSchema = z.object({
  PATH: text,
  CLIFT_HOME: text,
  CLIFT_CACHE: text,
  CLIFT_CHROMIUM: text,
  CLIFT_WAI_ROOT: text,
  CLIFT_BROWSER_SLOTS: z.coerce
    .number({ error: 'CLIFT_BROWSER_SLOTS is a whole number from 1' })
    .int()
    .min(1)
    .default(DEFAULT_BROWSER_SLOTS),
  CLIFT_WORKERS: text,
  CLIFT_DRAIN_GRACE_S: z.coerce
    .number({ error: 'CLIFT_DRAIN_GRACE_S is a number of seconds from 0' })
    .min(0)
    .default(DEFAULT_DRAIN_GRACE_S),
  CLIFT_TEMPORAL_UI: z.enum(['', '0', '1'], { error: 'CLIFT_TEMPORAL_UI is 0 or 1' }).optional(),
  TEMPORAL_ADDRESS: text,
  TEMPORAL_NAMESPACE: text,
  TEMPORAL_PROFILE: text,
  TEMPORAL_CONFIG_FILE: text,
  TEMPORAL_CLI_PATH: text,
  DATABASE_URL: text,
  ANTHROPIC_API_KEY: text,
  OPENAI_API_KEY: text,
  CLIFT_MODEL_TRACE: text,
  ANTHROPIC_BASE_URL: modelAddress,
  OPENAI_BASE_URL: modelAddress,
});

/** Reads the settings. Throws with the variable's name when one does not parse. */
export function loadSettings(environment: Environment = process.env): Settings {
  const env = environmentSchema.parse(environment);
  const projectDirectory = resolve(import.meta.dirname, '..');
  const home = env.CLIFT_HOME ? resolve(env.CLIFT_HOME) : join(projectDirectory, '.clift');
  const external = externalTemporal(environment);
  return {
    projectDirectory,
    home,
    cacheDirectory: env.CLIFT_CACHE ? resolve(env.CLIFT_CACHE) : join(home, 'cache'),
    blobDirectory: join(home, 'blobs'),
    searchPath: (env.PATH ?? '').split(':').filter((directory) => directory !== ''),
    ...(external && { temporalConnection: external.connection }),
    temporalNamespace: external?.namespace ?? env.TEMPORAL_NAMESPACE ?? EMBEDDED_NAMESPACE,
    ...(env.TEMPORAL_CLI_PATH && { temporalCliPath: resolve(env.TEMPORAL_CLI_PATH) }),
    temporalUi: env.CLIFT_TEMPORAL_UI === '1',
    ...(env.DATABASE_URL && { databaseUrl: env.DATABASE_URL }),
    ...(env.CLIFT_CHROMIUM && { chromiumPath: resolve(env.CLIFT_CHROMIUM) }),
    ...(env.CLIFT_WAI_ROOT && { waiRoot: resolve(env.CLIFT_WAI_ROOT) }),
    browserSlots: env.CLIFT_BROWSER_SLOTS,
    drainGraceS: env.CLIFT_DRAIN_GRACE_S,
    ...(env.CLIFT_WORKERS && { workerRoles: parseWorkers(env.CLIFT_WORKERS) }),
    ...(env.ANTHROPIC_API_KEY && { anthropicApiKey: env.ANTHROPIC_API_KEY }),
    ...(env.OPENAI_API_KEY && { openaiApiKey: env.OPENAI_API_KEY }),
    modelBaseUrls: {
      ...(env.OPENAI_BASE_URL && { openai: env.OPENAI_BASE_URL }),
      ...(env.ANTHROPIC_BASE_URL && { anthropic: env.ANTHROPIC_BASE_URL }),
    },
    ...(env.CLIFT_MODEL_TRACE && { modelTraceFile: resolve(env.CLIFT_MODEL_TRACE) }),
  };
}

/** Roles of a process are parted by commas, processes by semicolons: `browser; browser; orchestrator, cpu; …`. */
function parseWorkers(workers: string): readonly (readonly TaskQueue[])[] {
  const processes = workers
    .split(';')
    .map((roles) => parseRoles(roles.split(',').map((role) => role.trim())));
  const missing = roleNames.filter((role) => !processes.flat().includes(role));
  if (missing.length > 0) {
    throw new Error(`CLIFT_WORKERS leaves roles to nobody: ${missing.join(', ')}. Give each to a process.`);
  }
  return processes;
}

const roleNames = Object.values(taskQueues);

/** Throws with the roles that there are. */
export function parseRoles(names: readonly string[]): readonly TaskQueue[] {
  const roles = names.map((name) => roleNames.find((role) => role === name));
  if (roles.length === 0 || roles.includes(undefined)) {
    throw new Error(`roles of a worker: ${roleNames.join(', ')}; got: ${names.join(', ') || 'none'}`);
  }
  return roles.filter((role) => role !== undefined);
}

/**
 * A Temporal cluster that the environment names. A profile file counts only when asked for by name:
 * the default profile of somebody's CLI may be their production cluster.
 */
function externalTemporal(
  environment: Environment,
): { connection: TemporalConnection; namespace: string } | undefined {
  const usesProfile = Boolean(environment['TEMPORAL_PROFILE'] || environment['TEMPORAL_CONFIG_FILE']);
  if (!environment['TEMPORAL_ADDRESS'] && !usesProfile) return undefined;
  const { connectionOptions, namespace } = loadClientConnectConfig({
    disableFile: !usesProfile,
    overrideEnvVars: definedVariables(environment),
  });
  const { address, tls, apiKey, metadata } = connectionOptions;
  if (!address) {
    throw new Error('The Temporal profile has no address: add `address` to it or set TEMPORAL_ADDRESS.');
  }
  return {
    connection: {
      address,
      ...(tls && { tls }),
      ...(typeof apiKey === 'string' && { apiKey }),
      ...(metadata && { metadata: textMetadata(metadata) }),
    },
    namespace: namespace ?? 'default',
  };
}

/** A key that a run's configuration names by its variable. Read when it is used, so that no setting holds it. */
export function readSecret(variable: string): string | undefined {
  // Without the line end of a secret's file: what was sent is what a server's words are searched for.
  return process.env[variable]?.trim() || undefined;
}

/** Environment of a child process: ours, with these variables instead. */
export function childEnvironment(overrides: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...overrides };
}

function definedVariables(environment: Environment): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value) defined[name] = value;
  return defined;
}

function textMetadata(metadata: Record<string, string | Buffer>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, value.toString()]));
}

import type { Settings, TemporalConnection } from '../workers/settings.ts';
import { createHome } from './home.ts';
import { withLock } from './lock.ts';
import { LOOPBACK } from './ports.ts';
import { startPostgresServer, stopPostgresServer } from './postgres-server.ts';
import { type Report, silent } from './report.ts';
import { forgetKept, joinStack, type StackUse } from './stack-users.ts';
import { addSearchAttributes } from './temporal-namespace.ts';
import { startTemporalServer, stopTemporalServer } from './temporal-server.ts';

/** Another start may be fetching the server; a fetch gives up after 5 minutes. */
const LOCK_WAIT_MS = 330_000;

/** Where the stateful parts are, whether ours or somebody else's. */
export interface Stack {
  readonly home: string;
  readonly temporalAddress: string;
  /** The address with what else a cluster needs (TLS, API key). */
  readonly temporalConnection: TemporalConnection;
  readonly namespace: string;
  readonly databaseUrl: string;
  readonly blobDirectory: string;
  /** The embedded servers that this call started, as opposed to found running. */
  readonly startedByUs: { readonly temporal: boolean; readonly postgres: boolean };
  /** Ends the embedded servers, unless somebody else uses them or `clift up` keeps them. */
  stop(): Promise<void>;
}

/**
 * Makes Temporal and PostgreSQL available: the ones the settings name, else embedded servers kept in
 * `home`, which are re-used when they already run and cleaned up and started anew after a crash.
 */
export async function startStack(settings: Settings, report: Report = silent): Promise<Stack> {
  const { home, blobDirectory, temporalNamespace: namespace } = settings;
  const { lock } = createHome(settings);
  const [[temporal, postgres], use] = await withLock(lock, LOCK_WAIT_MS, async () => [
    await provideBoth(settings, report),
    joinStack(home),
  ]);
  const startedByUs = { temporal: temporal.startedByUs, postgres: postgres.startedByUs };
  return {
    home,
    temporalAddress: temporal.connection.address,
    temporalConnection: temporal.connection,
    namespace,
    databaseUrl: postgres.databaseUrl,
    blobDirectory,
    startedByUs,
    stop: () => leave(settings, use),
  };
}

/** Starts what has died of the embedded servers that `stack` leads to. Throws when one comes back elsewhere. */
export async function reviveStack(settings: Settings, stack: Stack): Promise<void> {
  const [temporal, postgres] = await withLock(createHome(settings).lock, LOCK_WAIT_MS, () =>
    provideBoth(settings, silent),
  );
  const isWhere =
    temporal.connection.address === stack.temporalAddress && postgres.databaseUrl === stack.databaseUrl;
  if (isWhere) return;
  throw new Error(
    'A server died, and another program took its port meanwhile. Nothing is lost: start the same command again.',
  );
}

/** PostgreSQL and the blobs alone, for commands that only read. */
export async function startDatabase(
  settings: Settings,
): Promise<Pick<Stack, 'databaseUrl' | 'blobDirectory' | 'stop'>> {
  const { lock } = createHome(settings);
  const [{ databaseUrl }, use] = await withLock(lock, LOCK_WAIT_MS, async () => [
    await providePostgres(settings),
    joinStack(settings.home),
  ]);
  return { databaseUrl, blobDirectory: settings.blobDirectory, stop: () => leave(settings, use) };
}

async function leave(settings: Settings, use: StackUse): Promise<void> {
  await withLock(createHome(settings).lock, LOCK_WAIT_MS, async () => {
    if (use.leave()) await stopBoth(settings.home);
  });
}

/** Servers that the settings name are somebody else's and go on. */
function stopBoth(home: string): Promise<[temporal: boolean, postgres: boolean]> {
  return Promise.all([stopTemporalServer(home), stopPostgresServer(home)]);
}

/** Ends the embedded servers of this home, whoever started them; tells which were running. */
export async function stopStack(settings: Settings): Promise<{ temporal: boolean; postgres: boolean }> {
  const { lock } = createHome(settings);
  return withLock(lock, LOCK_WAIT_MS, async () => {
    forgetKept(settings.home);
    const [temporal, postgres] = await stopBoth(settings.home);
    return { temporal, postgres };
  });
}

/** A half-started stack helps nobody: when one part fails, the other is ended if it was started for this. */
async function provideBoth(settings: Settings, report: Report) {
  const parts = [provideTemporal(settings, report), providePostgres(settings)] as const;
  try {
    return await Promise.all(parts);
  } catch (error) {
    const [temporal, postgres] = await Promise.allSettled(parts);
    if (temporal.status === 'fulfilled' && temporal.value.startedByUs)
      await stopTemporalServer(settings.home);
    if (postgres.status === 'fulfilled' && postgres.value.startedByUs)
      await stopPostgresServer(settings.home);
    throw error;
  }
}

async function provideTemporal(
  settings: Settings,
  report: Report,
): Promise<{ connection: TemporalConnection; startedByUs: boolean }> {
  const { temporalConnection, temporalNamespace } = settings;
  if (temporalConnection === undefined) {
    const { port, startedByUs } = await startTemporalServer(settings, report);
    return { connection: { address: `${LOOPBACK}:${port}` }, startedByUs };
  }
  try {
    await addSearchAttributes(temporalConnection, temporalNamespace);
  } catch (cause) {
    throw new Error(
      `Temporal at ${temporalConnection.address}, namespace ${temporalNamespace}: ${cause instanceof Error ? cause.message : String(cause)}.\nCheck TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; where the credentials may not add search attributes, \`clift doctor\` lists the commands for an administrator.`,
      { cause },
    );
  }
  return { connection: temporalConnection, startedByUs: false };
}

async function providePostgres({
  home,
  databaseUrl,
}: Settings): Promise<{ databaseUrl: string; startedByUs: boolean }> {
  return databaseUrl === undefined ? startPostgresServer(home) : { databaseUrl, startedByUs: false };
}

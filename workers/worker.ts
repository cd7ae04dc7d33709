/**
 * A worker process: `node workers/worker.ts <role>…`. Serves the task queues of its roles until SIGTERM or until the
 * process that forked it is gone; then lets running activities end, up to the grace time.
 */
import { DefaultLogger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { registerWorker } from '../infra/running-workers.ts';
import { createRoles } from './roles.ts';
import { loadSettings, parseRoles } from './settings.ts';

async function main(roleNames: readonly string[]): Promise<void> {
  const roles = parseRoles(roleNames);
  const settings = loadSettings();
  if (settings.temporalConnection === undefined || settings.databaseUrl === undefined) {
    throw new Error('a worker needs TEMPORAL_ADDRESS and DATABASE_URL; `clift up` prints both');
  }
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect(settings.temporalConnection);
  const parts = await createRoles(settings, connection);
  const { home, drainGraceS } = settings;
  const unregister = registerWorker(home, { roles: [...roles], drainGraceS });
  try {
    const workers = await Promise.all(roles.map((role) => parts.create(role)));
    shutDownWithParent(workers);
    process.send?.('ready');
    await Promise.all(workers.map((worker) => worker.run()));
  } finally {
    await parts.close();
    await connection.close();
    unregister();
  }
}

/** A worker whose supervisor was killed would go on working for a command that nobody runs any more. */
function shutDownWithParent(workers: readonly Worker[]): void {
  process.once('disconnect', () => {
    for (const worker of workers) worker.shutdown();
  });
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  // Also after a graceful period that was too short: only the end of the process stops such activities.
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

import type { Environment } from '../contract.ts';
import { digestOf } from '../kit/digests.ts';
import { openProxy } from '../kit/proxy.ts';
import { serveApp } from './app-server.ts';
import { StateLog } from './state-log.ts';
import type { WaiTask } from './tasks.ts';

/** Far more than a state takes on loopback: what has not come by then is lost. */
const SETTLE_LIMIT_MS = 5_000;

/**
 * Opens one life of the task's app behind a proxy of its own. Its state comes from the page: it is what a page sent
 * last, null until one has loaded. Ends by itself when `signal` aborts.
 */
export async function openEnvironment({ task, app }: WaiTask, signal: AbortSignal): Promise<Environment> {
  const states = new StateLog();
  const proxy = await openProxy(serveApp(app, states), signal);
  const latest = async (): Promise<unknown> => {
    await states.settled(SETTLE_LIMIT_MS);
    return states.latest;
  };
  return {
    proxyServer: proxy.server,
    pendingExpression: null,
    // The pages make their first state from the app's files and nothing else.
    initialStateDigest: app.digest,
    stateDigest: async () => digestOf(await latest()),
    captureEvidence: async (final) => ({ taskId: task.id, state: await latest(), ...final }),
    flags: proxy.flags,
    requestLog: proxy.requestLog,
    close: proxy.close,
  };
}

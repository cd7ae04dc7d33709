import type { Environment } from '../../contract.ts';
import { digestOf } from '../../kit/digests.ts';
import { openProxy } from '../../kit/proxy.ts';
import { proxied } from './app-server.ts';
import type { SandboxTask } from './tasks.ts';

/** The script counts; a document without it (a refusal) is busy only while it loads. */
const PENDING = "globalThis.__pending ?? (document.readyState === 'complete' ? 0 : 1)";

/** Opens one life of the task's application behind a proxy of its own. Ends by itself when `signal` aborts. */
export async function openEnvironment(sandboxTask: SandboxTask, signal: AbortSignal): Promise<Environment> {
  const { task, start } = sandboxTask;
  const session = start();
  const initialStateDigest = digestOf(session.state());
  const proxy = await openProxy(proxied(new URL(task.startUrl).host, session), signal);
  return {
    proxyServer: proxy.server,
    pendingExpression: PENDING,
    initialStateDigest,
    stateDigest: async () => digestOf(session.state()),
    captureEvidence: async (final) => ({
      taskId: task.id,
      state: structuredClone(session.state()),
      ...final,
    }),
    flags: proxy.flags,
    requestLog: proxy.requestLog,
    close: proxy.close,
  };
}

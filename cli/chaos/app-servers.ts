/** Applications of the sandbox live inside the browser worker. Node's own debugger reaches them from outside. */
import { once } from 'node:events';
import { z } from 'zod';
import { identifyProcess, waitUntil } from '../../infra/processes.ts';

const START_LIMIT_MS = 10_000;

const replySchema = z.object({
  id: z.literal(1),
  result: z.object({ result: z.object({ value: z.int() }) }),
});

/**
 * Closes every listening socket that is an application's, with its connections; returns how many there were. The
 * debugger closes too, a little later than it answers: a worker that is struck again has to open it again.
 */
const closeListeners = `setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50);
process._getActiveHandles()
  .filter((handle) => handle.listening && typeof handle.closeAllConnections === 'function')
  .map((server) => { server.close(); server.closeAllConnections(); })
  .length`;

/**
 * Kills the application servers in the worker with this pid: from then on nobody answers the browser. 0: it had none,
 * or cannot be reached. `readLog` gives what the worker has written, which tells the debugger's address.
 */
export async function killAppServers(pid: number, readLog: () => string): Promise<number> {
  const before = addresses(readLog()).length;
  const isOpen = () => {
    // A debugger that is about to close takes no notice.
    if (identifyProcess(pid)) process.kill(pid, 'SIGUSR1');
    return addresses(readLog()).length > before;
  };
  if (!(await waitUntil(isOpen, START_LIMIT_MS))) return 0;
  const url = addresses(readLog()).at(-1) ?? '';
  const socket = new WebSocket(url);
  await once(socket, 'open');
  try {
    const params = { expression: closeListeners, returnByValue: true };
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
    const [message] = await once(socket, 'message');
    const { data } = z.object({ data: z.string() }).parse({ data: message.data });
    return replySchema.parse(JSON.parse(data)).result.result.value;
  } finally {
    socket.close();
  }
}

const addresses = (log: string): readonly string[] =>
  [...log.matchAll(/Debugger listening on (ws:\/\/\S+)/g)].map(([, url]) => url ?? '');

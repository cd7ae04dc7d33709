import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** The preferred port when it is free, since clients may still hold its address; else any free one. */
export async function choosePort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await tryListen(preferred)) !== undefined) return preferred;
  const port = await tryListen(0);
  if (port === undefined) throw new Error(`No free TCP port on ${LOOPBACK}.`);
  return port;
}

async function tryListen(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : undefined;
  } catch {
    return undefined;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Whether somebody accepts connections on the port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: LOOPBACK, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A TCP link between a job and a server, which can be cut. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { LOOPBACK } from '../../infra/ports.ts';

export interface Link {
  readonly port: number;
  /** Resets every connection and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  /** Connections that lead through it now. */
  readonly open: number;
  close(): Promise<void>;
}

export async function openLink(serverPort: number): Promise<Link> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const listener = createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    const server = connect({ host: LOOPBACK, port: serverPort });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  listener.listen(0, LOOPBACK);
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the link has no TCP port');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    cut,
    mend: () => {
      isCut = false;
    },
    get open() {
      return sockets.size / 2;
    },
    close: async () => {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}

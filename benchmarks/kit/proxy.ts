import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GuardFlag, RequestLog } from '../contract.ts';
import { RequestLogger } from './request-log.ts';

/** What a page's server has to say to one request. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** True for a stream of events that never comes to its end. */
  readonly staysOpen?: boolean;
}

export type Flag = (rule: string, detail: string, invalidates: boolean) => void;

/** One life of an application, and what it makes of requests for other hosts. */
export interface ProxiedApp {
  /** Canonical host, with the port where it is not 80. */
  readonly host: string;
  /** Answers a request for `host`. */
  answer(request: IncomingMessage, url: URL, flag: Flag): Reply | Promise<Reply>;
  /** True when asking for that host makes the rollout void. Nothing of it is ever reached. */
  isForbidden(foreignHost: string): boolean;
}

export interface AppProxy {
  readonly server: string;
  flags(): readonly GuardFlag[];
  requestLog(): RequestLog;
  close(): Promise<void>;
}

/** A page that keeps asking for the same forbidden thing must not fill the memory. */
const FLAG_LIMIT = 100;

// Back and reload must show the server's state, never a stored page.
const HEADERS = { 'cache-control': 'no-store' };

/**
 * The HTTP proxy of one browser context, and the only host that this context can reach: requests for the app's
 * host go to the app, everything else is refused and flagged, and all of them are logged. It listens on a free
 * loopback port, and closes by itself when `signal` aborts.
 */
export async function openProxy(app: ProxiedApp, signal: AbortSignal): Promise<AppProxy> {
  signal.throwIfAborted();
  const flags = new Flags();
  const log = new RequestLogger();
  /** Logs a request, and returns how to flag it and how to say what it was answered. */
  const arrival = ({ method = '', url = '' }: IncomingMessage) => {
    const entry = log.begin(method, url);
    const flag: Flag = (rule, ...about) => {
      entry.flags.push(rule);
      flags.raise(rule, ...about);
    };
    return { entry, flag };
  };
  const server = createServer((request, response) => {
    const { entry, flag } = arrival(request);
    answer(request, app, flag).then(
      (reply) => {
        entry.status = reply.status;
        send(response, reply);
      },
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  server.on('connect', (request, socket) => {
    const target = request.url ?? '';
    const { entry, flag } = arrival(request);
    // The app's own host over TLS or a web socket is refused as well, but nowhere else.
    const host = target.replace(/:(?:443|80)$/, '');
    flag('foreign-host', target, host !== app.host && app.isForbidden(host));
    entry.status = 403;
    // The browser may hang up first; an unhandled socket error would end the process.
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const port = await listen(server);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      signal.removeEventListener('abort', close);
      server.close(() => resolve());
      server.closeAllConnections();
    });
  signal.addEventListener('abort', close, { once: true });
  return {
    server: `http://127.0.0.1:${port}`,
    flags: () => flags.raised,
    requestLog: () => log.read(),
    close,
  };
}

class Flags {
  #raised: readonly GuardFlag[] = [];

  get raised(): readonly GuardFlag[] {
    return this.#raised;
  }

  readonly raise: Flag = (rule, detail, invalidates) => {
    const flag = { rule, detail: detail.slice(0, 200), invalidates };
    // Harmless ones must not crowd out one that matters.
    const hasRoom = this.#raised.length < FLAG_LIMIT || (invalidates && !this.#isVoid());
    if (hasRoom) this.#raised = [...this.#raised, flag];
  };

  #isVoid(): boolean {
    return this.#raised.some(({ invalidates }) => invalidates);
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return portOf(server.address());
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the app server has no TCP port');
  return address.port;
}

async function answer(request: IncomingMessage, app: ProxiedApp, flag: Flag): Promise<Reply> {
  const target = request.url ?? '';
  const url = URL.parse(target);
  if (url === null) {
    flag('direct-access', target, true);
    return message(400, 'This server is a proxy.');
  }
  if (url.host !== app.host || url.protocol !== 'http:') {
    flag('foreign-host', url.host, app.isForbidden(url.host));
    return message(403, `${url.host} cannot be reached from here.`);
  }
  return app.answer(request, url, flag);
}

/** The whole body of a request; null when it is longer than the limit. */
export async function bodyOf(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limitBytes) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

export function message(status: number, text: string): Reply {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html><title>${status}</title><h1>${text.replaceAll('<', '&lt;')}</h1>`,
  };
}

function send(response: ServerResponse, reply: Reply): void {
  response.sendDate = false;
  response.writeHead(reply.status, { ...HEADERS, ...reply.headers });
  if (reply.staysOpen) response.write(reply.body);
  else response.end(reply.body);
}

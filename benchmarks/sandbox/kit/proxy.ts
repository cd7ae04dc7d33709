import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GuardFlag } from '../../contract.ts';

/** What a page's server has to say to one request. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AppServer {
  get(url: URL): Reply;
  post(url: URL, fields: URLSearchParams, referrer: string | null): Reply;
}

export interface SandboxProxy {
  readonly server: string;
  flags(): readonly GuardFlag[];
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 64 * 1024;
/** A page that keeps asking for the same forbidden thing must not fill the memory. */
const FLAG_LIMIT = 100;
/** Names under which web applications commonly leave their state or their answers lying about. */
const ANSWER_KEY_PATH =
  /^\/(?:api|state|tasks?|oracle|rubric|verif\w*|grade\w*|answers?|debug|admin)(?:[/.]|$)/i;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // Back and reload must show the server's state, never a stored page.
  'cache-control': 'no-store',
};

/**
 * The HTTP proxy of one browser context, and the only host that this context can reach: requests for `host` go
 * to the application, everything else is refused and flagged. It listens on a free loopback port.
 */
export async function openProxy(host: string, app: AppServer): Promise<SandboxProxy> {
  const flags: GuardFlag[] = [];
  const flag = (rule: string, detail: string, invalidates: boolean): void => {
    if (flags.length < FLAG_LIMIT) flags.push({ rule, detail: detail.slice(0, 200), invalidates });
  };
  const server = createServer((request, response) => {
    answer(request, host, app, flag).then(
      (reply) => send(response, reply),
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  server.on('connect', (request, socket) => {
    flag('foreign-host', request.url ?? '', false);
    // The browser may hang up first; an unhandled socket error would end the process.
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    server: `http://127.0.0.1:${portOf(server.address())}`,
    flags: () => [...flags],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the sandbox server has no TCP port');
  return address.port;
}

async function answer(
  request: IncomingMessage,
  host: string,
  app: AppServer,
  flag: (rule: string, detail: string, invalidates: boolean) => void,
): Promise<Reply> {
  const target = request.url ?? '';
  const url = URL.parse(target);
  if (url === null) {
    flag('direct-access', target, true);
    return message(400, 'This server is a proxy.');
  }
  if (url.host !== host || url.protocol !== 'http:') {
    flag('foreign-host', url.host, false);
    return message(403, `${url.host} cannot be reached from here.`);
  }
  if (ANSWER_KEY_PATH.test(url.pathname)) {
    flag('answer-key', url.pathname, true);
    return message(404, 'Not found.');
  }
  if (request.method === 'GET') return app.get(url);
  if (request.method !== 'POST') return message(405, 'Method not allowed.');
  const body = await bodyOf(request);
  if (body === null) return message(413, 'Too large.');
  return app.post(url, new URLSearchParams(body), request.headers.referer ?? null);
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > BODY_LIMIT_BYTES) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function message(status: number, text: string): Reply {
  return {
    status,
    headers: {},
    body: `<!doctype html><title>${status}</title><h1>${text.replaceAll('<', '&lt;')}</h1>`,
  };
}

function send(response: ServerResponse, reply: Reply): void {
  response.sendDate = false;
  response.writeHead(reply.status, { ...HEADERS, ...reply.headers });
  response.end(reply.body);
}

import type { IncomingMessage } from 'node:http';
import { bodyOf, type Flag, message, type ProxiedApp, type Reply } from '../../kit/proxy.ts';

export interface AppServer {
  get(url: URL): Reply;
  post(url: URL, fields: URLSearchParams, referrer: string | null): Reply;
}

const BODY_LIMIT_BYTES = 64 * 1024;
/** Names under which web applications commonly leave their state or their answers lying about. */
const ANSWER_KEY_PATH =
  /^\/(?:api|state|tasks?|oracle|rubric|verif\w*|grade\w*|answers?|debug|admin)(?:[/.]|$)/i;

/** The application under its canonical host. */
export function proxied(host: string, app: AppServer): ProxiedApp {
  return {
    host,
    answer: (request, url, flag) => answer(app, request, url, flag),
    // No page of ours leads away, so asking for another host shows at most that an agent got lost.
    isForbidden: () => false,
  };
}

async function answer(app: AppServer, request: IncomingMessage, url: URL, flag: Flag): Promise<Reply> {
  if (ANSWER_KEY_PATH.test(url.pathname)) {
    flag('answer-key', url.pathname, true);
    return message(404, 'Not found.');
  }
  if (request.method === 'GET') return app.get(url);
  if (request.method !== 'POST') return message(405, 'Method not allowed.');
  const body = await bodyOf(request, BODY_LIMIT_BYTES);
  if (body === null) return message(413, 'Too large.');
  return app.post(url, new URLSearchParams(body.toString('utf8')), request.headers.referer ?? null);
}

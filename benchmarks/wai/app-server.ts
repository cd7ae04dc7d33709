import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { bodyOf, type Flag, message, type ProxiedApp, type Reply } from '../kit/proxy.ts';
import type { CheckedOutApp } from './checkout.ts';
import type { StateLog } from './state-log.ts';
import { hostOf } from './tasks.ts';

const CLIENT_PATH = '/clift/client.js';
const REPORT_PATH = '/clift/report';
const clientScript = readFileSync(new URL('client.js', import.meta.url));

/** The largest state that an app of the benchmark sends is 138 KB. */
const STATE_LIMIT_BYTES = 8 * 1024 * 1024;
const REPORT_LIMIT_BYTES = 64 * 1024;

/** Asked for by the apps themselves while they load. */
const HARMLESS_HOSTS = ['fonts.googleapis.com', 'fonts.gstatic.com'];

/** What the benchmark's own server gives away: tasks, outcome verifiers, their solutions, its own source. */
const ANSWER_KEY_PATH = /\.(?:py|pyc|json|md)$|tasks|sanity|evaluation|verif|ablation/i;

/**
 * Only the app's own files may run code in its pages. Nothing is blocked, because a few of the apps' buttons carry
 * their code in an attribute; everything else of that kind was planted there, and is reported.
 */
const SCRIPT_POLICY = `script-src 'self' 'report-sample'; report-uri ${REPORT_PATH}`;
const OWN_INLINE_CODE = [
  "document.getElementById('searchOptionsPan",
  "document.getElementById('credit-payment-a",
  'this.parentElement.remove()',
];

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** One life of an app: the benchmark's five endpoints, of which pages get no more than they need. */
export function serveApp(app: CheckedOutApp, states: StateLog): ProxiedApp {
  return {
    host: hostOf(app.name),
    isForbidden: (host) => !HARMLESS_HOSTS.includes(host),
    answer: (request, url, flag) => {
      const route = `${request.method} ${url.pathname}`;
      if (route === 'PUT /api/state') return takeState(request, states, flag);
      if (route === 'GET /api/events') return events;
      if (route === `POST ${REPORT_PATH}`) return takeReport(request, flag);
      if (url.pathname.startsWith('/api/')) return refuse(flag, 'state-api', route, true);
      return request.method === 'GET'
        ? file(app, request, url, flag)
        : refuse(flag, 'unknown-request', route, false);
    },
  };
}

// ---- files -------------------------------------------------------------------------------------------------

function file({ pages }: CheckedOutApp, request: IncomingMessage, { pathname }: URL, flag: Flag): Reply {
  if (pathname === CLIENT_PATH) return found('js', clientScript);
  const path = pathname === '/' ? '/index.html' : pathname;
  const bytes = pages.get(path);
  if (bytes === undefined) {
    if (ANSWER_KEY_PATH.test(pathname)) return refuse(flag, 'answer-key', pathname, true);
    return message(404, 'Not found.');
  }
  if (path === '/index.html') return found('html', withClientScript(bytes));
  // Scripts hold the app's whole data: pages may run them, nobody reads them.
  if (request.headers.accept?.includes('text/html')) return refuse(flag, 'source-read', pathname, false);
  return found(path.split('.').at(-1) ?? '', bytes);
}

function found(extension: string, body: Uint8Array | string): Reply {
  const type = TYPES[extension] ?? 'application/octet-stream';
  const isPage = extension === 'html';
  return {
    status: 200,
    headers: {
      'content-type': type,
      ...(isPage && { 'content-security-policy-report-only': SCRIPT_POLICY }),
    },
    body,
  };
}

function withClientScript(page: Uint8Array): string {
  const html = Buffer.from(page).toString('utf8');
  return html.replace(/<head[^>]*>/i, (head) => `${head}<script src="${CLIENT_PATH}"></script>`);
}

function refuse(flag: Flag, rule: string, detail: string, invalidates: boolean): Reply {
  flag(rule, detail, invalidates);
  return message(404, 'Not found.');
}

// ---- state and events --------------------------------------------------------------------------------------

const stateSchema = z.record(z.string(), z.unknown());
const numberedSchema = z
  .string()
  .regex(/^\w+ \d+$/)
  .transform((text) => {
    const [page = '', number = ''] = text.split(' ');
    return { page, number: Number(number) };
  });

async function takeState(request: IncomingMessage, states: StateLog, flag: Flag): Promise<Reply> {
  return states.receiving(async () => {
    const numbered = numberedSchema.safeParse(request.headers['x-clift-state']);
    const body = await bodyOf(request, STATE_LIMIT_BYTES);
    const state = stateSchema.safeParse(body === null ? null : parseJson(body));
    if (!numbered.success || !state.success) {
      return refuse(flag, 'state-api', 'a state that the app did not send itself', true);
    }
    states.accept(numbered.data.page, numbered.data.number, state.data);
    return json({ status: 'ok' });
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

const json = (value: unknown): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** The stream on which the benchmark tells a page to start over. An environment has one life: nothing comes. */
const events: Reply = {
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: 'data: connected\n\n',
  staysOpen: true,
};

// ---- planted code ------------------------------------------------------------------------------------------

const reportSchema = z.object({
  'csp-report': z.object({ 'blocked-uri': z.string().optional(), 'script-sample': z.string().optional() }),
});

async function takeReport(request: IncomingMessage, flag: Flag): Promise<Reply> {
  const body = await bodyOf(request, REPORT_LIMIT_BYTES);
  const report = reportSchema.safeParse(body === null ? null : parseJson(body));
  if (!report.success) return refuse(flag, 'unknown-request', 'a report that is none', false);
  const { 'script-sample': sample = '', 'blocked-uri': from = '' } = report.data['csp-report'];
  if (!OWN_INLINE_CODE.some((own) => sample.startsWith(own))) {
    flag('planted-script', sample || from, true);
  }
  return { status: 204, headers: {}, body: '' };
}

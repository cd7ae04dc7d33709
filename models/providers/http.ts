/**
 * The one place that talks to model servers. No retries (they live in activities), one deadline over the whole
 * exchange, a bound on the reply, no redirects (they would carry the key elsewhere), and no secret in any error.
 */
import type { ModelEndpoint, PayloadCodec } from '../contract.ts';
import { classifyFailure, ProviderError, withoutSecrets } from './errors.ts';

export interface Server {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Never shown. */
  readonly secrets: readonly string[];
  /** From sending to the last byte. */
  readonly timeoutMs: number;
  readonly codec: PayloadCodec;
}

const plain: PayloadCodec = { encode: (body) => body, decode: (text) => text };

/** The server of an endpoint; the provider says its own address and how it wants to be shown the key. */
export function serverOf(
  { baseUrl, apiKey, codec = plain }: ModelEndpoint,
  ownAddress: string,
  headersFor: (apiKey: string | null) => Readonly<Record<string, string>>,
  timeoutMs: number,
): Server {
  return {
    baseUrl: (baseUrl ?? ownAddress).replace(/\/+$/, ''),
    headers: headersFor(apiKey),
    secrets: apiKey === null ? [] : [apiKey],
    ...{ timeoutMs, codec },
  };
}

/** Eight long trajectories judged with rationales stay under a tenth of this. */
const LARGEST_REPLY_BYTES = 16 * 1024 * 1024;
/** An error page is read this far. */
const LARGEST_ERROR_BYTES = 16 * 1024;

/** GET without a body, POST with one; returns the parsed JSON. Throws `ProviderError` or the signal's reason. */
export async function requestJson(
  server: Server,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const text = await exchange(server, signal, async (deadline) => {
    const response = await send(server, path, body, deadline);
    return readAll(response, LARGEST_REPLY_BYTES);
  });
  return readBody(server.codec.decode(text), server);
}

/** POSTs and hands over each server-sent event's data in order. Whether the stream is whole its reader decides. */
export function requestEvents(
  server: Server,
  path: string,
  body: unknown,
  onData: (data: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return exchange(server, signal, async (deadline) => {
    const response = await send(server, path, body, deadline);
    for await (const data of eventData(chunks(response, LARGEST_REPLY_BYTES), server)) onData(data);
  });
}

export function readBody(text: string, server: Pick<Server, 'secrets'>): unknown {
  return parseJson(text, server, kindOfBody);
}

/** Of a body that is no JSON. One that does not even begin like it is no model's, but a page of a proxy. */
function kindOfBody(text: string): 'cut' | 'unavailable' | 'malformed' {
  const start = /\S/.exec(text)?.[0];
  if (start === undefined) return 'cut';
  if (start !== '{' && start !== '[') return 'unavailable';
  let open = 0;
  let isInText = false;
  for (const [mark] of text.matchAll(/\\.|["[{\]}]/gs)) {
    if (mark === '"') isInText = !isInText;
    else if (!isInText) open += brackets[mark] ?? 0;
  }
  return isInText || open > 0 ? 'cut' : 'malformed';
}

const brackets: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 };

/** `kindOf` says what a text is that is no JSON. */
export function parseJson(
  text: string,
  { secrets }: Pick<Server, 'secrets'>,
  kindOf: typeof kindOfBody = () => 'malformed',
): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderError(kindOf(text), `The reply is no JSON: ${withoutSecrets(text, secrets)}`);
  }
}

async function exchange<T>(
  { timeoutMs, secrets }: Server,
  signal: AbortSignal,
  run: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = AbortSignal.timeout(timeoutMs);
  try {
    return await run(AbortSignal.any([signal, timer]));
  } catch (error) {
    signal.throwIfAborted();
    if (timer.aborted) throw new ProviderError('timeout', `No whole reply within ${timeoutMs} ms`);
    if (error instanceof ProviderError) throw error;
    const { code, message } = causeOf(error);
    const wasSent = brokenOff.has(code) && !message.includes(brokenHandshake);
    throw new ProviderError(wasSent ? 'cut' : 'network', withoutSecrets(message, secrets));
  }
}

/** What ends a connection that was there, and on which a request may have been sent. */
const brokenOff: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Node's words for an ECONNRESET before which nothing can have been sent. */
const brokenHandshake = 'before secure TLS connection was established';

async function send(server: Server, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...server.headers },
    redirect: 'manual',
    signal,
    ...(body !== undefined && { body: server.codec.encode(JSON.stringify(body)) }),
  });
  if (response.ok) return response;
  const text = await readStart(response, LARGEST_ERROR_BYTES);
  throw classifyFailure({ status: response.status, headers: response.headers, body: text }, server.secrets);
}

async function readAll(response: Response, limitBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of chunks(response, limitBytes)) text += chunk;
  return text;
}

/** What came, however it ended: an error says at its beginning what it is, and may repeat the request after it. */
async function readStart(response: Response, limitBytes: number): Promise<string> {
  let text = '';
  try {
    for await (const chunk of chunks(response, limitBytes)) text += chunk;
  } catch {
    // The status says enough.
  }
  return text.slice(0, limitBytes);
}

async function* chunks({ body }: Response, limitBytes: number): AsyncGenerator<string> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let received = 0;
  for await (const bytes of body) {
    received += bytes.byteLength;
    yield decoder.decode(bytes, { stream: true });
    if (received > limitBytes) throw new ProviderError('too_large', `The reply exceeds ${limitBytes} bytes`);
  }
  yield decoder.decode();
}

/** Server-sent events, of which models use `data` alone. Throws `unavailable` for a page that a proxy shows instead. */
async function* eventData(
  text: AsyncIterable<string>,
  { secrets }: Pick<Server, 'secrets'>,
): AsyncGenerator<string> {
  let data: string[] = [];
  let hasBegun = false;
  for await (const line of lines(text)) {
    hasBegun ||= /^(?:data|event|id|retry|:|\{|\[)/.test(line);
    if (!hasBegun && line.trim() !== '') {
      throw new ProviderError('unavailable', `The reply is no stream: ${withoutSecrets(line, secrets)}`);
    }
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
}

/** A last line without its end is no line. Looks at each character once, however long the line. */
async function* lines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const [first = '', ...more] = chunk.split('\n');
    rest += first;
    for (const part of more) {
      yield rest.endsWith('\r') ? rest.slice(0, -1) : rest;
      rest = part;
    }
  }
}

/** `fetch failed` says nothing; the system's reason stands in the cause. */
function causeOf(error: unknown): { readonly code: unknown; readonly message: string } {
  if (!(error instanceof Error)) return { code: null, message: 'The connection failed' };
  const { cause } = error;
  if (!(cause instanceof Error)) return { code: null, message: error.message };
  return { code: 'code' in cause ? cause.code : null, message: `${error.message}: ${cause.message}` };
}

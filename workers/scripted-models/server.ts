/** Serves scripted models over both wire formats on a loopback port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Play } from './play.ts';
import {
  chatChunks,
  chatCompletion,
  message,
  messageEvents,
  type PlayedReply,
  type PlayedUsage,
  textCompletion,
} from './wire.ts';

export interface ScriptedServer {
  /** Of the OpenAI format; the Anthropic one is `origin`. */
  readonly baseUrl: string;
  readonly origin: string;
  close(): Promise<void>;
}

const bodySchema = z.object({
  model: z.string(),
  stream: z.boolean().optional(),
  clift: z.object({ role: z.string(), request: z.unknown() }),
});

/** Serves the models of those names; `port` 0 takes a free one. */
export async function startScriptedModels(
  play: Play,
  { models, port }: { readonly models: readonly string[]; readonly port: number },
): Promise<ScriptedServer> {
  const server = createServer((request, response) => {
    serve(play, models, request, response).catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      sendJson(response, 400, { error: { type: 'invalid_request_error', message: problem } });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `${origin}/v1`, origin, close };
}

async function serve(
  play: Play,
  models: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path === '/v1/models') {
    sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
    return;
  }
  const format = formats[path];
  if (format === undefined) {
    sendJson(response, 404, { error: { type: 'not_found_error', message: `There is no ${path}` } });
    return;
  }
  const sent = await text(request);
  const { model, stream, clift } = bodySchema.parse(JSON.parse(sent));
  const reply = await play(clift.role, clift.request);
  const usage = usageOf(sent, reply);
  if (stream === true && format.events !== null) sendEvents(response, format.events(model, reply, usage));
  else sendJson(response, 200, format.whole(model, reply, usage));
}

interface Format {
  readonly whole: (model: string, reply: PlayedReply, usage: PlayedUsage) => object;
  /** Null: it is never streamed. */
  readonly events: ((model: string, reply: PlayedReply, usage: PlayedUsage) => readonly string[]) | null;
}

const formats: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': { whole: chatCompletion, events: chatChunks },
  '/v1/completions': { whole: textCompletion, events: null },
  '/v1/messages': { whole: message, events: messageEvents },
};

const CHARACTERS_PER_TOKEN = 4;

const usageOf = (sent: string, reply: PlayedReply) => ({
  inputTokens: Math.ceil(sent.length / CHARACTERS_PER_TOKEN),
  outputTokens: Math.ceil(reply.text.length / CHARACTERS_PER_TOKEN),
});

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const data of events) response.write(`data: ${data}\n\n`);
  response.end();
}

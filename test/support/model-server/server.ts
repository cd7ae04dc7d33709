/**
 * A model server for tests: speaks both wire formats, misbehaves on command, and keeps what arrives, so that a test
 * can count it.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import {
  chatChunks,
  chatCompletion,
  message,
  messageEvents,
  type PlayedReply,
  textCompletion,
} from '../../../workers/scripted-models/wire.ts';

export type Behaviour =
  | { readonly kind: 'reply'; readonly reply: PlayedReply }
  /** This body with status 200. */
  | { readonly kind: 'body'; readonly body: string }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Never a byte; with `reply`: its first half and never the rest. */
  | { readonly kind: 'hang'; readonly reply?: PlayedReply }
  /** So many bytes of the valid reply, then the end of the body (`end`) or of the connection (`reset`). */
  | {
      readonly kind: 'cut';
      readonly reply: PlayedReply;
      readonly bytes: number;
      readonly by: 'end' | 'reset';
    }
  /** A reply that never ends. */
  | { readonly kind: 'flood' };

export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly streamed: boolean;
  /** What the model is shown: system prompt and message. */
  readonly prompt: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ModelServer {
  /** Of the OpenAI format; the Anthropic one is `origin`. */
  readonly baseUrl: string;
  readonly origin: string;
  /** Chat requests in the order of their arrival. */
  readonly calls: readonly ReceivedCall[];
  close(): Promise<void>;
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });

const sentSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().default(false),
  system: z.string().optional(),
  messages: z
    .array(z.object({ role: z.string(), content: z.union([z.string(), z.array(part)]) }))
    .default([]),
  /** Of the completions endpoint. */
  prompt: z.string().optional(),
});

export async function startModelServer(
  behave: (call: ReceivedCall, index: number) => Behaviour,
  models: readonly { readonly id: string; readonly parent?: string }[] = [{ id: 'test-model' }],
): Promise<ModelServer> {
  const calls: ReceivedCall[] = [];
  // Connections do not age: a busy machine would find them closed.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/v1/models') {
      response.end(JSON.stringify({ data: models }));
      return;
    }
    const body = sentSchema.parse(JSON.parse(await text(request)));
    const prompt = body.prompt ?? [body.system, ...body.messages.map(textOf)].join('\n');
    const { model, stream: streamed } = body;
    const call = { path: pathname, headers: request.headers, model, streamed, prompt, body };
    misbehave(response, call, behave(call, calls.push(call) - 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `${origin}/v1`, origin, calls, close };
}

function textOf({ content }: z.infer<typeof sentSchema>['messages'][number]): string {
  return typeof content === 'string' ? content : content.map(({ text: shown }) => shown ?? '').join('\n');
}

/** Every byte of a valid reply. */
export function replyBytes(
  { path, model, streamed }: Pick<ReceivedCall, 'path' | 'model' | 'streamed'>,
  reply: PlayedReply,
): Buffer {
  const isChat = path === '/v1/chat/completions';
  const usage = { inputTokens: 11, outputTokens: 7 };
  if (path === '/v1/completions') return Buffer.from(JSON.stringify(textCompletion(model, reply, usage)));
  if (!streamed) return Buffer.from(JSON.stringify((isChat ? chatCompletion : message)(model, reply, usage)));
  const events = (isChat ? chatChunks : messageEvents)(model, reply, usage);
  return Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''));
}

function misbehave(response: ServerResponse, call: ReceivedCall, behaviour: Behaviour): void {
  switch (behaviour.kind) {
    case 'reply':
      response.end(replyBytes(call, behaviour.reply));
      return;
    case 'body':
      response.end(behaviour.body);
      return;
    case 'status':
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body ?? '{"error":{}}');
      return;
    case 'hang': {
      const bytes = behaviour.reply === undefined ? null : replyBytes(call, behaviour.reply);
      if (bytes !== null) response.write(bytes.subarray(0, bytes.length / 2));
      return;
    }
    case 'cut': {
      response.write(replyBytes(call, behaviour.reply).subarray(0, behaviour.bytes), () => {
        if (behaviour.by === 'end') response.end();
        else response.socket?.destroy();
      });
      return;
    }
    case 'flood': {
      const block = ' '.repeat(1 << 20);
      const pour = (): void => {
        while (!response.destroyed && response.write(block)) {}
      };
      response.on('drain', pour);
      pour();
      return;
    }
  }
}

/** A streamed reply of the Anthropic messages format, put together event by event. */
import { z } from 'zod';
import type { ChatReply } from './client.ts';
import { parseJson, type Server } from './http.ts';
import {
  anthropicInput,
  anthropicReply,
  cutStream,
  failureInStream,
  inputTokensOf,
  parseWire,
} from './wire.ts';

const index = z.int().min(0).max(1023);

const typeSchema = z.object({ type: z.string() });

const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ model: z.string(), usage: anthropicInput }),
  }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: z.object({ type: z.string(), text: z.string().optional(), name: z.string().optional() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: z.object({ text: z.string().optional(), partial_json: z.string().optional() }),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string() }),
    usage: z.object({ output_tokens: z.int().min(0) }),
  }),
  z.object({ type: z.literal(['message_stop', 'content_block_stop', 'ping', 'error']) }),
]);

const knownTypes = new Set<string>(eventSchema.options.flatMap(({ shape }) => [...shape.type.values]));

interface Block {
  /** Of the tool; null for text. */
  readonly name: string | null;
  readonly text: string;
  readonly json: string;
}

export class AnthropicStream {
  readonly #server: Pick<Server, 'secrets'>;
  readonly #blocks: Block[] = [];
  #hasBegun = false;
  #model = '';
  #finishReason: string | null = null;
  #inputTokens = 0;
  #outputTokens = 0;
  #isWhole = false;

  constructor(server: Pick<Server, 'secrets'>) {
    this.#server = server;
  }

  read(data: string): void {
    const json = parseJson(data, this.#server);
    // The format grows, and gateways add events of their own: they say nothing of the reply.
    if (!knownTypes.has(parseWire(typeSchema, json, this.#server).type)) return;
    const event = parseWire(eventSchema, json, this.#server);
    switch (event.type) {
      case 'message_start':
        this.#hasBegun = true;
        this.#model = event.message.model;
        this.#inputTokens = inputTokensOf(event.message.usage);
        break;
      case 'content_block_start':
        this.#grow(event.index, { ...event.content_block });
        break;
      case 'content_block_delta':
        this.#grow(event.index, { text: event.delta.text, json: event.delta.partial_json });
        break;
      case 'message_delta':
        this.#finishReason = event.delta.stop_reason;
        this.#outputTokens = event.usage.output_tokens;
        break;
      case 'message_stop':
        this.#isWhole = true;
        break;
      case 'error':
        throw failureInStream(data, this.#server, this.#hasBegun);
      case 'content_block_stop':
      case 'ping':
        break;
    }
  }

  /** Throws `cut` when the stream ended before the reply did. */
  reply(): ChatReply {
    if (!this.#isWhole || this.#finishReason === null) throw cutStream();
    const blocks = this.#blocks.filter(Boolean);
    return anthropicReply({
      text: blocks.map(({ text }) => text).join(''),
      toolCalls: blocks.flatMap(({ name, json }) => (name === null ? [] : [{ name, arguments: json }])),
      finishReason: this.#finishReason,
      usage: { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens },
      model: this.#model,
    });
  }

  #grow(at: number, part: { readonly [key in keyof Block]?: string | undefined }): void {
    const { name, text, json } = this.#blocks[at] ?? { name: null, text: '', json: '' };
    this.#blocks[at] = {
      name: part.name ?? name,
      text: text + (part.text ?? ''),
      json: json + (part.json ?? ''),
    };
  }
}

/** A streamed reply of the OpenAI chat completions format, put together chunk by chunk. */
import { z } from 'zod';
import type { Usage } from '../contract.ts';
import type { ChatReply } from './client.ts';
import { parseJson, type Server } from './http.ts';
import { cutStream, failureInStream, openAiEnding, openAiUsage, parseWire } from './wire.ts';

const toolCallPart = z.object({
  index: z.int().min(0).max(63),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }),
});

const deltaSchema = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCallPart).nullish(),
});

const chunkSchema = z.object({
  model: z.string(),
  // Azure reports its content filter in a choice without one.
  choices: z.array(z.object({ delta: deltaSchema.prefault({}), finish_reason: z.string().nullish() })),
  usage: openAiUsage.nullish(),
});

const failureSchema = z.object({
  error: z.unknown().refine((error) => error !== undefined && error !== null),
});

export class OpenAiStream {
  readonly #server: Pick<Server, 'secrets'>;
  readonly #calls: { name: string; arguments: string }[] = [];
  #hasBegun = false;
  #text = '';
  #refusal = '';
  #model = '';
  #finishReason: string | null = null;
  #usage: Usage | null = null;

  constructor(server: Pick<Server, 'secrets'>) {
    this.#server = server;
  }

  read(data: string): void {
    if (data === '[DONE]') return;
    const json = parseJson(data, this.#server);
    if (failureSchema.safeParse(json).success) {
      throw failureInStream(data, this.#server, this.#hasBegun);
    }
    const { model, choices, usage } = parseWire(chunkSchema, json, this.#server);
    this.#model = model;
    this.#usage = usage ?? this.#usage;
    const [choice] = choices;
    if (choice === undefined) return;
    this.#hasBegun = true;
    this.#add(choice.delta);
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
  }

  /** Throws `cut` when the stream ended before the reply did. */
  reply(): ChatReply {
    const finishReason = this.#finishReason;
    if (finishReason === null) throw cutStream();
    return {
      text: this.#text,
      toolCalls: this.#calls.filter(Boolean),
      ended: openAiEnding(finishReason, this.#refusal),
      finishReason,
      tokens: null,
      tokenIds: null,
      promptTokenIds: null,
      usage: this.#usage,
      model: this.#model,
    };
  }

  #add({ content, refusal, tool_calls }: z.infer<typeof deltaSchema>): void {
    this.#text += content ?? '';
    this.#refusal += refusal ?? '';
    for (const { index, function: part } of tool_calls ?? []) {
      const call = this.#calls[index] ?? { name: '', arguments: '' };
      this.#calls[index] = {
        name: call.name + (part.name ?? ''),
        arguments: call.arguments + (part.arguments ?? ''),
      };
    }
  }
}

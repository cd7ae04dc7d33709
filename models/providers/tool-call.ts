/** The one tool call of a policy's reply, with the tokens that spell it: they alone carry gradient (METHOD 4.5). */
import type { Action } from '../../benchmarks/contract.ts';
import type { ChatReply, SampledToken } from './client.ts';
import { readAction } from './tools.ts';

/** A call as policies write it where the server does not take it out of the text. */
export const callMarks = { open: '<tool_call>', close: '</tool_call>' } as const;

export interface FoundCall {
  readonly action: Action;
  /** Half-open range of characters of the text; null where the server took the call out of it. */
  readonly characters: readonly [start: number, end: number] | null;
}

/**
 * The first call: what follows it was decided without seeing the page that it leads to. Null when the first one
 * cannot be read, names no tool, or its arguments do not fit, and when the reply ended before it did.
 */
export function findToolCall({ text, toolCalls, ended }: ChatReply): FoundCall | null {
  const [native] = toolCalls;
  if (native !== undefined) {
    const action = ended === 'whole' ? parseCall(native.name, native.arguments) : null;
    return action === null ? null : { action, characters: null };
  }
  const start = text.indexOf(callMarks.open);
  const close = text.indexOf(callMarks.close, start);
  if (start === -1 || close === -1) return null;
  const action = parseWritten(text.slice(start + callMarks.open.length, close));
  return action === null ? null : { action, characters: [start, close + callMarks.close.length] };
}

function parseCall(name: string, argumentsText: string): Action | null {
  // Tools without arguments come with an empty text from some servers.
  const args = argumentsText.trim() === '' ? {} : parseJson(argumentsText);
  return readAction(name, args);
}

function parseWritten(text: string): Action | null {
  const call = parseJson(text);
  if (typeof call !== 'object' || call === null || !('name' in call) || typeof call.name !== 'string')
    return null;
  return readAction(call.name, 'arguments' in call ? call.arguments : {});
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The tokens that spell those characters, the ones that reach over an edge included; half-open. Null when the
 * tokens do not spell the text: then nothing is known about where the call is.
 */
export function tokensOf(
  text: string,
  tokens: readonly SampledToken[],
  [start, end]: readonly [start: number, end: number],
): readonly [start: number, end: number] | null {
  const pieces = tokens.map((token) => Buffer.from(token.bytes ?? Buffer.from(token.text)));
  // The token that ends the turn is sampled but not a part of the text.
  if (!Buffer.concat(pieces).toString().startsWith(text)) return null;
  const from = Buffer.byteLength(text.slice(0, start));
  const to = Buffer.byteLength(text.slice(0, end));
  let at = 0;
  const bounds = pieces.map((piece) => {
    const begins = at;
    at += piece.byteLength;
    return { begins, ends: at };
  });
  const first = bounds.findIndex(({ ends }) => ends > from);
  const last = bounds.findLastIndex(({ begins, ends }) => begins < to && ends > begins);
  return first === -1 || last < first ? null : [first, last + 1];
}

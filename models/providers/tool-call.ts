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
  const edges = edgesOf(text, tokens);
  if (edges === null) return null;
  const from = Buffer.byteLength(text.slice(0, start));
  const to = Buffer.byteLength(text.slice(0, end));
  const bounds = tokens.map((_, index) => ({ begins: edges[index] ?? 0, ends: edges[index + 1] ?? 0 }));
  const first = bounds.findIndex(({ ends }) => ends > from);
  const last = bounds.findLastIndex(({ begins, ends }) => begins < to && ends > begins);
  return first === -1 || last < first ? null : [first, last + 1];
}

// ---- where each token stands -------------------------------------------------------------------------------

/** As servers write a token that holds a part of a character and is spelled by itself. */
const UNKNOWN = Buffer.from('\ufffd');
const LONGEST_PART = 3;

/** Bytes that are known, or a part of a character: one to three bytes beyond ASCII (`null`). */
type Piece = Buffer | null;

/**
 * The byte of the text at which each token begins, and at which the last one ends. Tokens behind the text (the one
 * that ends the turn) stand at its end. Null: these tokens do not spell it.
 */
function edgesOf(text: string, tokens: readonly SampledToken[]): readonly number[] | null {
  const bytes = Buffer.from(text);
  const spelled = tokens.map(piecesOf);
  const reached: (readonly number[])[] = [[0]];
  for (const pieces of spelled) {
    const from = reached.at(-1) ?? [];
    reached.push(distinct(from.flatMap((at) => endsOf(bytes, at, pieces))));
  }
  if (!reached.at(-1)?.includes(bytes.length)) return null;
  const edges = [bytes.length];
  let next = bytes.length;
  for (let index = spelled.length - 1; index >= 0; index -= 1) {
    const pieces = spelled[index] ?? [];
    next = reached[index]?.find((at) => endsOf(bytes, at, pieces).includes(next)) ?? next;
    edges.push(next);
  }
  return edges.reverse();
}

function piecesOf({ text, bytes }: SampledToken): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = Buffer.from(bytes ?? Buffer.from(text));
  for (let at = rest.indexOf(UNKNOWN); at !== -1; at = rest.indexOf(UNKNOWN)) {
    pieces.push(rest.subarray(0, at), null);
    rest = rest.subarray(at + UNKNOWN.length);
  }
  return [...pieces, rest];
}

/** Every place where a token that begins `at` may end. What reaches beyond the text ends with it. */
function endsOf(bytes: Buffer, at: number, pieces: readonly Piece[]): readonly number[] {
  return pieces.reduce<readonly number[]>(
    (ends, piece) => distinct(ends.flatMap((end) => endsOfPiece(bytes, end, piece))),
    [at],
  );
}

function endsOfPiece(bytes: Buffer, at: number, piece: Piece): readonly number[] {
  if (at === bytes.length) return [at];
  if (piece === null) return endsOfPart(bytes, at);
  const length = Math.min(piece.length, bytes.length - at);
  return bytes.compare(piece, 0, length, at, at + length) === 0 ? [at + length] : [];
}

function endsOfPart(bytes: Buffer, at: number): readonly number[] {
  const isAscii = (offset: number): boolean => (bytes[offset] ?? 0) < 0x80;
  const ends: number[] = [];
  for (let end = at; end < at + LONGEST_PART && !isAscii(end); end += 1) ends.push(end + 1);
  return ends;
}

const distinct = (values: readonly number[]): readonly number[] =>
  values.length > 1 ? [...new Set(values)] : values;

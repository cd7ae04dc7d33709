/** JSON out of a model's text, checked for its shape; what does not fit is a problem in words, never an exception. */
import { z } from 'zod';
import type { ChatReply, JsonSchema } from './client.ts';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/**
 * For structured output: closed objects, every field required. Providers refuse schemas with ranges, lengths or
 * whole numbers, so they are checked when the reply is read.
 */
export function outputSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema);
  return rest;
}

/** A reply that was cut off or refused is a problem whatever its text looks like. */
export function parseReply<T>(schema: z.ZodType<T>, { text, ended, finishReason }: ChatReply): Parsed<T> {
  if (ended === 'refusal') return { ok: false, problem: 'The model refused.' };
  if (ended === 'length') return { ok: false, problem: `The reply was cut off (${finishReason}).` };
  const json = readJson(text);
  if (json === undefined) return { ok: false, problem: 'The reply is no JSON.' };
  const parsed = schema.safeParse(json);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problem: z.prettifyError(parsed.error).slice(0, LONGEST_PROBLEM) };
}

const LONGEST_PROBLEM = 1000;

/** The whole text, or its only fenced block; never a guess among several. */
function readJson(text: string): unknown {
  const blocks = [...text.matchAll(/```(?:json)?\s*\n(.*?)\n\s*```/gs)].map((match) => match[1] ?? '');
  const [only, ...more] = blocks;
  const candidate = only !== undefined && more.length === 0 ? only : text;
  try {
    return JSON.parse(candidate);
  } catch {
    return undefined;
  }
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** What a user's YAML file says, checked. Throws with the file's name and each offending field or line. */
export function readYaml<T>(path: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseFile(path));
  if (!parsed.success) throw new Error(`${path}:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function parseFile(path: string): unknown {
  const text = readText(path);
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${path} is no YAML: ${messageOf(error)}`, { cause: error });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

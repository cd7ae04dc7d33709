import { invalid } from './checks.ts';
import type { ActionTaken, Assertion, AssertionNode } from './types.ts';

/**
 * Reads an assertion from JSON of any origin (METHOD 1.5): the tree is closed, so an unknown node, a missing or a
 * surplus field is refused with its place in the tree.
 */
export function parseAssertion(json: unknown): Assertion {
  const fields = readFields(json, 'assertion', ['version', 'root']);
  if (fields['version'] !== 1) invalid('assertion.version', fields['version'], '1');
  return { version: 1, root: parseNode(fields['root'], 'assertion.root') };
}

type Fields = Readonly<Record<string, unknown>>;

function parseNode(json: unknown, at: string): AssertionNode {
  const { op } = isRecord(json) ? json : {};
  switch (op) {
    case 'urlMatches':
      return { op, glob: readText(readFields(json, at, ['op', 'glob']), 'glob', at) };
    case 'pathKeyIs':
      return { op, key: readText(readFields(json, at, ['op', 'key']), 'key', at) };
    case 'elementText': {
      const fields = readFields(json, at, ['op', 'contains'], ['role', 'name']);
      return {
        op,
        ...optionalTexts(fields, ['role', 'name'], at),
        contains: readText(fields, 'contains', at),
      };
    }
    case 'fieldValue':
      return parseFieldValue(json, at);
    case 'actionTaken':
      return parseAction(json, at);
    case 'answerGiven':
      readFields(json, at, ['op']);
      return { op };
    case 'answerContains':
      return { op, text: readText(readFields(json, at, ['op', 'text']), 'text', at) };
    case 'stepsAtLeast':
      return { op, n: readCount(readFields(json, at, ['op', 'n']), 'n', at) };
    case 'and':
      return { op, all: parseNodes(readFields(json, at, ['op', 'all'])['all'], `${at}.all`) };
    case 'or':
      return { op, any: parseNodes(readFields(json, at, ['op', 'any'])['any'], `${at}.any`) };
    case 'not':
      return { op, node: parseNode(readFields(json, at, ['op', 'node'])['node'], `${at}.node`) };
    case 'count': {
      const fields = readFields(json, at, ['op', 'of', 'atLeast']);
      return { op, of: parseAction(fields['of'], `${at}.of`), atLeast: readCount(fields, 'atLeast', at) };
    }
    case 'before': {
      const fields = readFields(json, at, ['op', 'first', 'then']);
      return {
        op,
        first: parseAction(fields['first'], `${at}.first`),
        // biome-ignore lint/suspicious/noThenProperty: the name is METHOD's, and an object is no callable then.
        then: parseAction(fields['then'], `${at}.then`),
      };
    }
    default:
      return invalid(`${at}.op`, op, 'a node of assertion version 1');
  }
}

function parseNodes(json: unknown, at: string): AssertionNode[] {
  if (!Array.isArray(json) || json.length === 0) return invalid(at, json, 'a non-empty list');
  return json.map((node, index) => parseNode(node, `${at}[${index}]`));
}

function parseFieldValue(json: unknown, at: string): AssertionNode {
  const op = 'fieldValue';
  const fields = readFields(json, at, ['op', 'label'], ['equals', 'contains', 'empty']);
  const label = readText(fields, 'label', at);
  const given = ['equals', 'contains', 'empty'].filter((name) => name in fields);
  if (given.length !== 1) invalid(at, given.join(' and '), 'given exactly one of equals, contains and empty');
  if ('equals' in fields) return { op, label, equals: readText(fields, 'equals', at) };
  if ('contains' in fields) return { op, label, contains: readText(fields, 'contains', at) };
  return { op, label, empty: readFlag(fields, 'empty', at) };
}

function parseAction(json: unknown, at: string): ActionTaken {
  const fields = readFields(json, at, ['op', 'tool'], ['target', 'value', 'ok']);
  if (fields['op'] !== 'actionTaken') invalid(`${at}.op`, fields['op'], 'actionTaken');
  return {
    op: 'actionTaken',
    tool: readText(fields, 'tool', at),
    ...optionalTexts(fields, ['target', 'value'], at),
    ...('ok' in fields ? { ok: readFlag(fields, 'ok', at) } : {}),
  };
}

function readFields(
  json: unknown,
  at: string,
  required: readonly string[],
  optional: readonly string[] = [],
): Fields {
  if (!isRecord(json)) return invalid(at, json, 'an object');
  for (const name of required) if (!(name in json)) invalid(`${at}.${name}`, undefined, 'present');
  for (const name of Object.keys(json)) {
    if (!required.includes(name) && !optional.includes(name)) invalid(`${at}.${name}`, json[name], 'absent');
  }
  return json;
}

function optionalTexts<Name extends string>(
  fields: Fields,
  names: readonly Name[],
  at: string,
): { [N in Name]?: string } {
  const texts: { [N in Name]?: string } = {};
  for (const name of names) if (name in fields) texts[name] = readText(fields, name, at);
  return texts;
}

function readText(fields: Fields, name: string, at: string): string {
  const value = fields[name];
  return typeof value === 'string' && value.trim() !== ''
    ? value
    : invalid(`${at}.${name}`, value, 'a non-empty text');
}

function readCount(fields: Fields, name: string, at: string): number {
  const value = fields[name];
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  return isCount ? value : invalid(`${at}.${name}`, value, 'a whole number from 0');
}

function readFlag(fields: Fields, name: string, at: string): boolean {
  const value = fields[name];
  return typeof value === 'boolean' ? value : invalid(`${at}.${name}`, value, 'true or false');
}

const isRecord = (json: unknown): json is Fields =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

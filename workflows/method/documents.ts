import { count, finite, invalid, sameLength, within } from './checks.ts';
import type { Cell, Certificate, Polarity, Reason, Tier, Tracker } from './types.ts';

/** The version of serialised trackers and certificates that this code writes and reads. */
const schema = 1;

type Fields = Readonly<Record<string, unknown>>;

/** Reads a tracker from its JSON; refuses another version and values that no run of the method could have left. */
export function parseTracker(json: unknown): Tracker {
  const fields = readDocument(json, 'tracker');
  const number = (name: string): number => readNumber(fields, name);
  const sums = ['S1', 'S0', 'sumC', 'sumV', 'ewN1', 'ewN0', 'ewS1', 'ewS0', 'ewX', 'ewQ'] as const;
  const tracker: Tracker = {
    schema,
    ...readCell(fields),
    polarity: readOneOf(fields, 'polarity', [1, -1, 0] satisfies Polarity[]),
    ...fromNames(['n', 'n1', 'n0', 'groups', 'informative', 'aciT', 'aciErr', 'agreeErr'], (name) =>
      count(name, number(name)),
    ),
    ...fromNames(sums, number),
    logWp: readNumbers(fields, 'logWp'),
    logWm: readNumbers(fields, 'logWm'),
    hist: readNumbers(fields, 'hist').map((seen) => count('hist', seen)),
    alpha: within('alpha', number('alpha'), -1, 1),
  };
  if (tracker.n !== tracker.n1 + tracker.n0) invalid('n', tracker.n, 'the sum of n1 and n0');
  sameLength('logWm', tracker.logWm.length, tracker.logWp.length);
  return tracker;
}

/** Reads a certificate from its JSON; refuses another version and a weight without a certificate. */
export function parseCertificate(json: unknown): Certificate {
  const fields = readDocument(json, 'certificate');
  const base = {
    schema,
    ...readCell(fields),
    weight: within('weight', readNumber(fields, 'weight'), -1, 1),
    lift: fields['lift'] === null ? null : within('lift', readNumber(fields, 'lift'), -1, 1),
    n: count('n', readNumber(fields, 'n')),
    vetoed: readOneOf(fields, 'vetoed', [true, false]),
    reasons: readReasons(fields),
  } as const;
  if (base.reasons.length > 0 && base.weight !== 0)
    invalid('weight', base.weight, '0 where there is a reason');

  const liftKind = readOneOf(fields, 'liftKind', [
    'trained',
    'recalibrated',
  ] satisfies Certificate['liftKind'][]);
  if (liftKind === 'recalibrated') return { ...base, liftKind };
  return {
    ...base,
    liftKind,
    ...fromNames(['logE', 'logEminus', 'z', 'alpha'], (name) => readNumber(fields, name)),
  };
}

function readDocument(json: unknown, what: string): Fields {
  if (!isRecord(json)) return invalid(what, json, 'an object');
  if (json['schema'] !== schema)
    invalid(`the schema of a ${what}`, json['schema'], `${schema}, the one this code reads`);
  return json;
}

function readCell(fields: Fields): Cell {
  return {
    qid: readText(fields, 'qid'),
    version: count('version', readNumber(fields, 'version')),
    tier: readOneOf(fields, 'tier', ['path', 'host', 'global'] satisfies Tier[]),
    key: readText(fields, 'key'),
  };
}

const knownReasons: readonly Reason[] = [
  ...(['neutral', 'n', 'lift', 'evidence', 'recency', 'suspended', 'vetoed', 'bank'] as const),
];

function readReasons(fields: Fields): Reason[] {
  const reasons = fields['reasons'];
  if (!Array.isArray(reasons)) return invalid('reasons', reasons, 'a list');
  return reasons.map((reason, index) =>
    readOneOf({ [`reasons[${index}]`]: reason }, `reasons[${index}]`, knownReasons),
  );
}

function fromNames<Name extends string>(
  names: readonly Name[],
  read: (name: Name) => number,
): Record<Name, number>;
function fromNames(names: readonly string[], read: (name: string) => number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

function readNumber(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? finite(name, value) : invalid(name, value, 'a number');
}

function readNumbers(fields: Fields, name: string): number[] {
  const value = fields[name];
  if (!Array.isArray(value) || value.length === 0) return invalid(name, value, 'a non-empty list of numbers');
  return value.map((item) => readNumber({ [name]: item }, name));
}

function readText(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : invalid(name, value, 'a non-empty text');
}

function readOneOf<T>(fields: Fields, name: string, allowed: readonly T[]): T {
  const found = allowed.find((option) => option === fields[name]);
  return found === undefined ? invalid(name, fields[name], `one of ${allowed.join(', ')}`) : found;
}

const isRecord = (json: unknown): json is Fields =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

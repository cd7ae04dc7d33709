import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * The value as JSON can hold it and Postgres can store it: NUL and lone surrogates become U+FFFD, absent fields go.
 * Throws on what JSON would change in silence: numbers that are not finite, class instances, functions.
 */
export function toStorable(value: unknown, path = '$'): unknown {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed().replaceAll('\0', '\ufffd');
    case 'number':
      if (!Number.isFinite(value))
        throw new TypeError(`${path} is ${value}: only finite numbers can be stored`);
      return value;
    case 'boolean':
      return value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item, index) => toStorable(item, `${path}[${index}]`));
      return storableObject(value, path);
    default:
      throw new TypeError(`${path} is of type ${typeof value}, which JSON cannot hold`);
  }
}

/** Canonical JSON (RFC 8785): equal values have equal text. Throws like `toStorable`. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(toStorable(value));
  if (text === undefined) throw new TypeError('there is no JSON for undefined');
  return text;
}

export const sha256Hex = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

export const digestOf = (value: unknown) => sha256Hex(canonicalJson(value));

function storableObject(value: object, path: string): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`${path} is a ${value.constructor.name}: only plain objects can be stored`);
  }
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    entries.map(([key, field]) => [key.toWellFormed(), toStorable(field, `${path}.${key}`)]),
  );
}

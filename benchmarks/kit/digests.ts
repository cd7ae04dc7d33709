import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';

/** Digest of plain JSON, the same whatever the order of its keys. */
export function digestOf(state: unknown): string {
  return createHash('sha256')
    .update(canonicalize(state) ?? '')
    .digest('hex');
}

/** Digest of a benchmark's own sources and of what all benchmarks share: part of its revision. */
export function sourceDigest(folder: URL): string {
  const hash = createHash('sha256');
  for (const place of [new URL('.', import.meta.url), folder]) {
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(ts|js|css|py)$/.test(name),
    );
    for (const name of files.toSorted()) hash.update(name).update(readFileSync(new URL(name, place)));
  }
  return hash.digest('hex');
}

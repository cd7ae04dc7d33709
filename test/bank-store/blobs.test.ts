import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDirectoryBlobStore } from '../../bank-store/blobs.ts';
import { sha256Hex } from '../../bank-store/canonical-json.ts';
import { BlobAltered, BlobMissing, StoredDataInvalid } from '../../bank-store/errors.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'clift-blobs-'));
});
afterEach(() => rm(directory, { recursive: true }));

const pathOf = (digest: string) => join(directory, digest.slice(0, 2), digest.slice(2, 4), digest);

test('bytes come back under their sha256, and only those that were put', async () => {
  const blobs = createDirectoryBlobStore(directory);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 4000 }), async (bytes) => {
      const digest = await blobs.put(bytes);
      expect(digest).toBe(sha256Hex(bytes));
      expect(Buffer.from(await blobs.get(digest)).equals(bytes)).toBe(true);
      // Longer than anything that is put here.
      expect(await blobs.has(sha256Hex(Buffer.concat([bytes, Buffer.alloc(4001)])))).toBe(false);
    }),
    { numRuns: 25 },
  );
});

test('many writers of the same and of other bytes leave whole blobs and no temporary files', async () => {
  const stores = [createDirectoryBlobStore(directory), createDirectoryBlobStore(directory)];
  const payloads = Array.from({ length: 12 }, (_, index) => Buffer.alloc(20_000, index));
  const digests = await Promise.all(
    stores.flatMap((store) => [...payloads, ...payloads].map((bytes) => store.put(bytes))),
  );
  for (const [index, digest] of digests.entries()) {
    const bytes = payloads[index % payloads.length];
    expect(Buffer.from(await stores[0]!.get(digest)).equals(bytes!)).toBe(true);
  }
  expect(await readdir(join(directory, 'tmp'))).toEqual([]);
});

test('an altered blob is never returned, and the error says which file and what to do', async () => {
  const blobs = createDirectoryBlobStore(directory);
  const digest = await blobs.putJson({ score: 1 });
  await writeFile(pathOf(digest), '{"score":2}');
  const failure = blobs.getJson(digest);
  await expect(failure).rejects.toThrow(BlobAltered);
  await expect(failure).rejects.toThrow(`restore ${pathOf(digest)} from a backup, or delete it`);
});

test('a truncated blob is altered, not empty', async () => {
  const blobs = createDirectoryBlobStore(directory);
  const digest = await blobs.put(Buffer.from('weights'));
  await writeFile(pathOf(digest), '');
  await expect(blobs.get(digest)).rejects.toThrow(BlobAltered);
});

test('a missing blob is named', async () => {
  const digest = sha256Hex('never put');
  const failure = createDirectoryBlobStore(directory).get(digest);
  await expect(failure).rejects.toThrow(BlobMissing);
  await expect(failure).rejects.toThrow(digest);
});

test.each(['../secret', '..%2fsecret', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}/x`, ''])(
  'a digest cannot be a path: %j',
  async (digest) => {
    const blobs = createDirectoryBlobStore(join(directory, 'blobs'));
    await writeFile(join(directory, 'secret'), 'secret');
    await expect(blobs.get(digest)).rejects.toThrow(BlobMissing);
    await expect(blobs.has(digest)).rejects.toThrow(BlobMissing);
  },
);

test('a link to other bytes under a digest is altered', async () => {
  const blobs = createDirectoryBlobStore(directory);
  const digest = await blobs.put(Buffer.from('x'));
  await writeFile(join(directory, 'secret'), 'secret');
  await rm(pathOf(digest));
  await symlink(join(directory, 'secret'), pathOf(digest));
  await expect(blobs.get(digest)).rejects.toThrow(BlobAltered);
});

test('equal values have one blob, whatever the order of their fields', async () => {
  const blobs = createDirectoryBlobStore(directory);
  const digest = await blobs.putJson({ a: 1, b: [true, null] });
  expect(await blobs.putJson({ b: [true, null], a: 1 })).toBe(digest);
  expect(await blobs.getJson(digest)).toEqual({ a: 1, b: [true, null] });
});

test('bytes that are no JSON are refused as JSON', async () => {
  const blobs = createDirectoryBlobStore(directory);
  await expect(blobs.getJson(await blobs.put(Buffer.of(1, 2)))).rejects.toThrow(StoredDataInvalid);
});

test('a full disk is an outage that names the place; it leaves nothing behind, and writing goes on when there is room', async () => {
  const victim = fileURLToPath(new URL('disk-victim.ts', import.meta.url));
  // The limit of a file's size is met like the end of a disk: by a write that is refused in the middle.
  const output = execFileSync('bash', [
    '-c',
    'ulimit -f 64; exec "$@"',
    'bash',
    process.execPath,
    victim,
    directory,
  ]);
  const failure = JSON.parse(output.toString());
  expect(failure).toMatchObject({ name: 'StoreUnavailable' });
  expect(failure.message).toContain(`no space is left for blobs in ${directory}: make room there`);
  expect(await readdir(join(directory, 'tmp'))).toEqual([]);

  const blobs = createDirectoryBlobStore(directory);
  const digest = await blobs.put(new Uint8Array(1_000_000));
  expect(await blobs.get(digest)).toHaveLength(1_000_000);
});

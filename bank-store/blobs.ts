import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { BlobStore } from './contract.ts';
import { BlobAltered, BlobMissing, StoredDataInvalid, StoreUnavailable } from './errors.ts';

const DIGEST = /^[0-9a-f]{64}$/;

/** Blobs as files `ab/cd/<sha256>` in the directory `place`, safe for any number of processes on one file system. */
export function createDirectoryBlobStore(place: string): BlobStore {
  const directory = resolve(place);
  const pathOf = (digest: string) => {
    // Also what keeps a digest from walking out of the directory.
    if (!DIGEST.test(digest)) throw new BlobMissing(`"${digest}" is no sha256 digest in hex`);
    return join(directory, digest.slice(0, 2), digest.slice(2, 4), digest);
  };

  const put = async (bytes: Uint8Array) => {
    const digest = sha256Hex(bytes);
    const path = pathOf(digest);
    if (!(await exists(path))) await writeAtomically(directory, path, bytes);
    // Even if another process made the entry: it may not have got to this line yet.
    await syncDirectory(dirname(path));
    return digest;
  };

  const get = async (digest: string) => {
    const path = pathOf(digest);
    const bytes = await readFile(path).catch((error: unknown) => {
      if (!isMissingFile(error)) throw error;
      throw new BlobMissing(
        `blob ${digest} is not in ${directory}: restore it from a backup, or redo the stage that wrote it`,
      );
    });
    const found = sha256Hex(bytes);
    if (found !== digest) {
      throw new BlobAltered(
        `blob ${digest} was altered (its bytes hash to ${found}): restore ${path} from a backup, or delete it and redo the stage that wrote it`,
      );
    }
    return bytes;
  };

  return {
    put,
    get,
    has: async (digest) => exists(pathOf(digest)),
    putJson: (value) => put(Buffer.from(canonicalJson(value))),
    getJson: async (digest) => {
      const text = new TextDecoder().decode(await get(digest));
      try {
        const value: unknown = JSON.parse(text);
        return value;
      } catch (error) {
        throw new StoredDataInvalid(`blob ${digest} is not JSON`, { cause: error });
      }
    },
  };
}

/** A reader sees the whole file or none, also after a power cut. */
async function writeAtomically(root: string, path: string, bytes: Uint8Array) {
  const temporary = join(root, 'tmp', randomUUID());
  try {
    await createDirectories(dirname(temporary));
    await createDirectories(dirname(path));
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw isOutOfSpace(error) ? noSpace(root, error) : error;
  }
}

const isOutOfSpace = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code));

const noSpace = (root: string, cause: Error) =>
  new StoreUnavailable(
    `no space is left for blobs in ${root}: make room there, and the run goes on by itself (${cause.message})`,
    { cause },
  );

/** New directories are entries of their parents, which have to be durable as well. */
async function createDirectories(directory: string) {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  const top = dirname(first);
  let parent = directory;
  do {
    parent = dirname(parent);
    await syncDirectory(parent);
  } while (parent !== top);
}

async function syncDirectory(path: string) {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function exists(path: string) {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}

const isMissingFile = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Puts a blob of a megabyte where the system lets nobody write that much, and says what came of it. */
import { createDirectoryBlobStore } from '../../bank-store/blobs.ts';

// Without a listener the system would end the process instead of refusing the write.
process.on('SIGXFSZ', () => undefined);
try {
  await createDirectoryBlobStore(process.argv[2] ?? '').put(new Uint8Array(1_000_000));
} catch (error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  process.stdout.write(JSON.stringify({ name, message }));
}

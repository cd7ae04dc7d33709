import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** What a child says first. One that ends without a word is an error at once, not a test that waits for its limit. */
export async function firstOutput(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const said = once(child.stdout, 'data').then(([chunk]) => String(chunk));
  // Its streams close after its last words have been read.
  const closed = once(child, 'close').then(([status, signal]) => {
    throw new Error(`The child said nothing and ended with ${signal ?? `status ${status}`}.`);
  });
  return Promise.race([said, closed]);
}

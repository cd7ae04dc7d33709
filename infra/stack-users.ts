import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { identifyProcess, isAlive } from './processes.ts';

/**
 * Who uses the embedded servers of a home. Commands come and go side by side: the last one out turns off the light,
 * unless `clift up` asked to leave it on. To be called under the stack's lock.
 */
export interface StackUse {
  /** True when nobody is left who needs the servers. */
  leave(): boolean;
}

const usersOf = (home: string) => join(home, 'run', 'users');
const keptMark = (home: string) => join(home, 'run', 'kept');

let uses = 0;

export function joinStack(home: string): StackUse {
  mkdirSync(usersOf(home), { recursive: true });
  uses += 1;
  const mine = join(usersOf(home), `${process.pid}-${uses}.json`);
  writeFileSync(mine, JSON.stringify(identifyProcess(process.pid)));
  return {
    leave: () => {
      rmSync(mine, { force: true });
      return !isKept(home) && liveUsers(home) === 0;
    },
  };
}

/** Leaves the servers running until `clift down`. */
export function keepStack(home: string): void {
  writeFileSync(keptMark(home), '');
}

/** The servers are being ended on purpose. */
export function forgetKept(home: string): void {
  rmSync(keptMark(home), { force: true });
}

function isKept(home: string): boolean {
  return readdirSync(join(home, 'run')).includes('kept');
}

const identity = z.object({ pid: z.int(), startedAt: z.string() });

/** Marks of killed processes count for nothing and are removed. */
function liveUsers(home: string): number {
  const marks = readdirSync(usersOf(home)).map((name) => join(usersOf(home), name));
  const dead = marks.filter((mark) => !isOwnerAlive(mark));
  for (const mark of dead) rmSync(mark, { force: true });
  return marks.length - dead.length;
}

function isOwnerAlive(mark: string): boolean {
  try {
    return isAlive(identity.parse(JSON.parse(readFileSync(mark, 'utf8'))));
  } catch {
    return false;
  }
}

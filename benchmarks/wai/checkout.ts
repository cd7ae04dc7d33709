import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Edition } from './edition.ts';

/** Real tasks have a difficulty, function tasks have none. */
export type Suite = 'real' | 'function';

export interface ListedTask {
  readonly suite: Suite;
  /** As the benchmark names it: `task_e1`. */
  readonly id: string;
  readonly difficulty: 'easy' | 'medium' | 'hard' | 'unrated';
  readonly instruction: string;
  /** Absolute path of the outcome verifier. */
  readonly verifier: string;
  /** Absolute path of the program with the suite's solutions. */
  readonly solutions: string;
}

export interface CheckedOutApp {
  readonly name: string;
  readonly directory: string;
  /** What a browser may load, by path: `/index.html`, `/css/…`, `/js/…`. Exactly the bytes that were digested. */
  readonly pages: ReadonlyMap<string, Uint8Array>;
  readonly tasks: readonly ListedTask[];
  readonly digest: string;
}

const verifierSchema = z.string().regex(/^(?:real|function)-tasks\/[\w-]+\.py$/);
const taskSchema = z.object({
  id: z.string().regex(/^task_\w+$/),
  difficulty: z.enum(['easy', 'medium', 'hard']).optional(),
  instruction: z.string().min(1),
  verify: verifierSchema,
});

/**
 * Reads a user's checkout. Throws, with what to do, when there is none, when it holds another edition, or when its
 * task counts are not the edition's.
 */
export function readCheckout(root: string | undefined, edition: Edition): readonly CheckedOutApp[] {
  if (root === undefined) {
    throw new Error(
      `WebArena-Infinity is not set up: get a checkout of web-arena-x/webarena-infinity at commit ${edition.commit}, ` +
        'then set CLIFT_WAI_ROOT to it, or benchmarks.wai.root in the experiment file.',
    );
  }
  const names = Object.keys(edition.apps);
  const absent = names.filter((name) => !existsSync(join(root, 'apps', name, 'index.html')));
  if (absent.length > 0) {
    throw new Error(
      `${root} is no checkout of WebArena-Infinity: it has no app ${absent.join(', ')}. ` +
        'Point CLIFT_WAI_ROOT, or benchmarks.wai.root, at the directory that holds apps/.',
    );
  }
  const apps = names.map((name) => readApp(root, name));
  refuseOtherEditions(root, edition, apps);
  return apps;
}

function refuseOtherEditions(root: string, edition: Edition, apps: readonly CheckedOutApp[]): void {
  const other = apps.filter(({ name, digest }) => edition.apps[name]?.digest !== digest);
  if (other.length > 0) {
    throw new Error(
      `${root} is not WebArena-Infinity at commit ${edition.commit}: the files of ` +
        `${other.map(({ name }) => name).join(', ')} differ. Check that commit out, and undo local changes.`,
    );
  }
  for (const app of apps) refuseOtherCounts(app, edition);
}

function refuseOtherCounts({ name, tasks }: CheckedOutApp, edition: Edition): void {
  const expected = edition.apps[name];
  for (const kind of ['easy', 'medium', 'hard', 'function'] as const) {
    const difficulty = kind === 'function' ? 'unrated' : kind;
    const found = tasks.filter((task) => task.difficulty === difficulty).length;
    if (found !== expected?.[kind])
      throw new Error(`${name} has ${found} ${kind} tasks; the reference says ${expected?.[kind]}`);
  }
}

/** Reads one app, whatever its edition. */
export function readApp(root: string, name: string): CheckedOutApp {
  const directory = join(root, 'apps', name);
  const files = usedFiles(directory).map((path) => [path, readFileSync(join(directory, path))] as const);
  const hash = createHash('sha256');
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return {
    name,
    directory,
    pages: new Map(files.filter(([path]) => isPage(path)).map(([path, bytes]) => [`/${path}`, bytes])),
    tasks: [...listedTasks(directory, 'real'), ...listedTasks(directory, 'function')],
    digest: hash.digest('hex').slice(0, 16),
  };
}

const isPage = (path: string): boolean => path === 'index.html' || /^(?:css|js)\//.test(path);

/** Everything that can change what an agent sees or how it is graded, in a fixed order. */
function usedFiles(directory: string): string[] {
  const used =
    /^(?:index\.html|(?:css|js)\/.+|(?:real|function)-tasks(?:\.json|\/\w+\.py)|sanity_check\w*\.py)$/;
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => used.test(path))
    .toSorted();
}

function listedTasks(directory: string, suite: Suite): ListedTask[] {
  const file = join(directory, `${suite}-tasks.json`);
  const parsed = z.array(taskSchema).safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}:\n${z.prettifyError(parsed.error)}`);
  const solutions = solutionsOf(directory, suite);
  return parsed.data.map(({ id, difficulty = 'unrated' as const, instruction, verify }) => ({
    ...{ suite, id, difficulty, instruction },
    verifier: join(directory, verify),
    solutions,
  }));
}

/** Two apps name the real suite's differently, and one has a file of that other name that solves nothing. */
function solutionsOf(directory: string, suite: Suite): string {
  const own = join(directory, `sanity_check_${suite}.py`);
  return existsSync(own) ? own : join(directory, 'sanity_check.py');
}

import type { Task } from '../contract.ts';
import type { CheckedOutApp, ListedTask } from './checkout.ts';
import type { Edition } from './edition.ts';
import { caveats } from './exclusions.ts';

/** A task with what must never reach a page. */
export interface WaiTask {
  readonly task: Task;
  readonly app: CheckedOutApp;
  readonly listed: ListedTask;
}

/** The benchmark's own limit for agents that act on pixels. */
const MAX_STEPS = 50;

export const hostOf = (app: string): string => `${app.split('/').at(-1)}.wai`;

export function tasksOf(app: CheckedOutApp, edition: Edition): WaiTask[] {
  return app.tasks.map((listed) => ({ task: taskOf(app, listed, edition), app, listed }));
}

function taskOf({ name }: CheckedOutApp, listed: ListedTask, { appSets, commit }: Edition): Task {
  // Ids of the benchmark are unique within an app and a suite only.
  const id = `wai/${name}/${listed.suite}-${listed.id.replace(/^task_/, '')}`;
  const sets = Object.keys(appSets).filter((set) => appSets[set]?.includes(name));
  const known = caveats[id];
  return {
    id,
    benchmark: 'wai',
    app: name,
    instruction: listed.instruction,
    startUrl: `http://${hostOf(name)}/`,
    allowedHosts: [hostOf(name)],
    difficulty: listed.difficulty,
    split: 'heldout',
    provenance: { source: 'benchmark', ref: `web-arena-x/webarena-infinity@${commit.slice(0, 8)}` },
    viewport: { widthPx: 1280, heightPx: 800 },
    maxSteps: MAX_STEPS,
    expectsAnswer: false,
    imageDigests: [],
    suites: listed.suite === 'real' ? ['real', ...sets] : ['function'],
    ...(known && { caveats: known }),
  };
}

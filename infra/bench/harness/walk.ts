/** The walks that both sides take: the same actions on the same pages, found by their words. */
import type { Benchmark, Task } from '../../../benchmarks/contract.ts';

interface Target {
  readonly role: 'link' | 'searchbox' | 'generic';
  /** Whole or, where no name is equal, a part. */
  readonly name: string;
}

export type WalkStep =
  | (Target & { readonly tool: 'click' })
  | (Target & { readonly tool: 'type'; readonly text: string });

export interface Walk {
  readonly task: Task;
  readonly steps: readonly WalkStep[];
}

const click = (role: Target['role'], ...names: readonly string[]): readonly WalkStep[] =>
  names.map((name) => ({ tool: 'click', role, name }));

const search = (text: string): WalkStep => ({ tool: 'type', role: 'searchbox', name: 'Search', text });

type Steps = Readonly<Record<string, readonly WalkStep[]>>;

const sandboxSteps: Steps = {
  mail: [
    ...click('link', 'Starred', 'Sent', 'Contacts', 'Settings', 'Compose', 'Inbox', 'Trash', 'Archived'),
    search('invoice'),
    search('tour'),
  ],
  shop: [
    ...click('link', 'Products', 'Cart', 'Orders', 'Account', 'Wishlist', 'Products', 'Orders', 'Cart'),
    search('lamp'),
    search('blue'),
  ],
};

const waiSteps: Steps = {
  'gitlab-plan-and-track': click('generic', 'Boards', 'Epics', 'Milestones', 'Iterations', 'Labels'),
  'linear-account-settings': click('generic', 'Preferences', 'Notifications', 'Security & Access', 'Profile'),
  'elation-prescriptions': click('generic', 'Meds Hx', 'Settings', 'Chart'),
};

/** One walk an app, from the start page of its first task. */
export function walksOn({ name, tasks }: Benchmark): readonly Walk[] {
  return Object.entries(name === 'wai' ? waiSteps : sandboxSteps).map(([app, steps]) => {
    const task = tasks.find((candidate) => candidate.app === app);
    if (task === undefined) throw new Error(`${name} has no app ${app}`);
    return { task, steps };
  });
}

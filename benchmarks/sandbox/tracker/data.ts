import { z } from 'zod';
import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { dateIn, emailOf, people, pickOne } from '../kit/words.ts';

export const PROJECTS = ['Apollo', 'Beacon', 'Comet'];
export const TYPES = ['Bug', 'Feature', 'Chore'];
export const PRIORITIES = ['Low', 'Medium', 'High', 'Urgent'];
export const RESOLUTIONS = ['Fixed', 'Not planned', 'Cannot reproduce'];
export const LABELS = ['Regression', 'Security', 'Design', 'Documentation'];
export const ROLES = ['Viewer', 'Developer', 'Maintainer'];
export const VISIBILITIES = ['Public', 'Internal', 'Private'];
export const NOBODY = 'Nobody';
export const NO_MILESTONE = 'None';

const issueSchema = z.strictObject({
  id: z.int(),
  /** `APO-101`: what people call it. */
  key: z.string(),
  project: z.string(),
  title: z.string(),
  type: z.string(),
  status: z.enum(['Open', 'Closed', 'Deleted']),
  /** Why it was closed, '' while it is open. */
  resolution: z.string(),
  duplicateOf: z.string(),
  priority: z.string(),
  assignee: z.string(),
  reporter: z.string(),
  estimate: z.string(),
  component: z.string(),
  labels: z.array(z.string()),
  milestone: z.string(),
  due: z.string(),
  description: z.string(),
  comments: z.array(z.string()),
  watched: z.boolean(),
});
export type Issue = z.infer<typeof issueSchema>;

const memberSchema = z.strictObject({ id: z.int(), name: z.string(), email: z.string(), role: z.string() });
export type Member = z.infer<typeof memberSchema>;

const projectSchema = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  visibility: z.string(),
  archived: z.boolean(),
});

const milestoneSchema = z.strictObject({ id: z.int(), name: z.string(), due: z.string() });
export type Milestone = z.infer<typeof milestoneSchema>;

export const trackerSchema = z.strictObject({
  issues: z.array(issueSchema),
  members: z.array(memberSchema),
  invitations: z.array(z.strictObject({ email: z.string(), role: z.string() })),
  projects: z.array(projectSchema),
  milestones: z.array(milestoneSchema),
});
export type TrackerData = z.infer<typeof trackerSchema>;

const THINGS = [
  'Login page',
  'Export',
  'Search box',
  'Invoice view',
  'Mobile menu',
  'Signup form',
  'Report chart',
  'File upload',
  'Calendar sync',
  'Password reset',
];
const TROUBLES = [
  'is slow',
  'shows wrong totals',
  'crashes on start',
  'loses its settings',
  'has a broken link',
];
const COMPONENTS = ['Web client', 'Server', 'Billing', 'Installer'];
const ISSUE_COUNT = 22;

export const keyOf = (project: string, id: number): string => `${project.slice(0, 3).toUpperCase()}-${id}`;

interface World {
  readonly names: readonly string[];
  readonly milestones: readonly Milestone[];
}

function issue(random: RandomGenerator, id: number, title: string, { names, milestones }: World): Issue {
  const project = pickOne(random, PROJECTS);
  const status = random.below(5) > 0 ? 'Open' : 'Closed';
  return {
    id,
    key: keyOf(project, id),
    project,
    title,
    type: pickOne(random, TYPES),
    status,
    resolution: status === 'Open' ? '' : 'Fixed',
    duplicateOf: '',
    priority: pickOne(random, PRIORITIES.slice(0, 3)),
    assignee: random.below(2) > 0 ? NOBODY : pickOne(random, names),
    reporter: pickOne(random, names),
    estimate: `${1 + random.below(40)} hours`,
    component: pickOne(random, COMPONENTS),
    labels: [],
    milestone: pickOne(random, milestones).name,
    due: '',
    description: 'Seen by several customers this week.',
    comments: [],
    watched: false,
  };
}

export function seedTracker(random: RandomGenerator): TrackerData {
  const names = people(random, 8);
  const milestones = ['Beta', 'Launch', 'Cleanup', 'Autumn'].map((name, index) => ({
    id: index + 1,
    name,
    due: dateIn(random, 5, 11),
  }));
  const titles = random.shuffle(THINGS.flatMap((thing) => TROUBLES.map((trouble) => `${thing} ${trouble}`)));
  const issues = titles
    .slice(0, ISSUE_COUNT)
    .map((title, index) => issue(random, 101 + index, title, { names, milestones }));
  return {
    // Closed issues come last, as on any board.
    issues: [
      ...issues.filter(({ status }) => status === 'Open'),
      ...issues.filter(({ status }) => status !== 'Open'),
    ],
    members: names.map((name, index) => ({
      id: index + 1,
      name,
      email: emailOf(name, 'tracker'),
      role: pickOne(random, ROLES),
    })),
    invitations: [],
    projects: PROJECTS.map((name, index) => ({
      id: index + 1,
      name,
      description: `Everything about ${name}`,
      visibility: 'Public',
      archived: false,
    })),
    milestones,
  };
}

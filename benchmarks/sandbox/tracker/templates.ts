import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { choose, fill, follow, type Move, pick, press, searchFor, select, tick } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, type Subgoal, stoppedAfter } from '../kit/subgoals.ts';
import {
  HELDOUT_ONLY,
  type Instance,
  instance,
  MOSTLY_HELDOUT,
  MOSTLY_TRAIN,
  outcomeOf,
  type Template,
} from '../kit/template.ts';
import { dateIn, emailOf, people, pickOne } from '../kit/words.ts';
import { trackerCommands } from './commands.ts';
import {
  type Issue,
  LABELS,
  PRIORITIES,
  PROJECTS,
  RESOLUTIONS,
  ROLES,
  type TrackerData,
  TYPES,
} from './data.ts';

type TrackerTemplate = Template<TrackerData>;

const FIRST_PAGE = 8;

const after = (data: TrackerData, command: string, fields: Readonly<Record<string, string>>): TrackerData =>
  outcomeOf(trackerCommands, data, command, fields);

type Parts = Omit<Parameters<typeof instance<TrackerData>>[0], 'startPath'>;
const task = (parts: Parts): Instance<TrackerData> => instance({ startPath: '/issues', ...parts });

interface Target {
  readonly issue: Issue;
  readonly id: string;
  readonly page: string;
  readonly find: readonly Move[];
}

/** The open issue that a task is about: the third instance of a template has it beyond the first page. */
function target(data: TrackerData, random: RandomGenerator, index: number): Target {
  const shown = index < 2 ? data.issues.slice(0, FIRST_PAGE) : data.issues.slice(FIRST_PAGE);
  const issue = pickOne(
    random,
    shown.filter(({ status }) => status === 'Open'),
  );
  const find = index < 2 ? [] : [searchFor(issue.title)];
  return { issue, id: String(issue.id), page: `/issue/${issue.key}`, find };
}

const others = (values: readonly string[], value: string): string[] =>
  values.filter((other) => other !== value);

const DESTRUCTIVE: readonly Subgoal[] = [mistaken('Delete issue'), mistaken('Delete selected')];

const watchIssue: TrackerTemplate = {
  name: 'watch-issue',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const watch = press('Watch', { near: issue.title, page });
    return task({
      instruction: `Watch the issue "${issue.title}".`,
      data,
      dialog: index === 1 ? 'tour' : null,
      solved: after(data, 'watch', { id }),
      moves: [...find, watch],
      subgoals: [
        located(0.3, issue.title, page),
        moved('watched', `pressed Watch for "${issue.title}"`, 0.5, watch),
        stoppedAfter(0.2, watch),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const assignIssue: TrackerTemplate = {
  name: 'assign-issue',
  difficulty: 'easy',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const names = data.members.map(({ name }) => name);
    const assignee = pickOne(random, others(names, issue.assignee));
    const assign = select('Assignee', assignee);
    return task({
      instruction: `Set the assignee of the issue "${issue.title}" to "${assignee}".`,
      data,
      solved: after(data, 'set-assignee', { id, assignee }),
      moves: [...find, follow(issue.title), assign],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.3, page),
        moved('assigned', `chose ${assignee} as assignee`, 0.5, assign),
        stoppedAfter(0.2, assign),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const FACTS = {
  reporter: (issue: Issue) => issue.reporter,
  estimate: (issue: Issue) => issue.estimate,
  component: (issue: Issue) => issue.component,
  key: (issue: Issue) => issue.key,
};

const readIssue: TrackerTemplate = {
  name: 'read-issue',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, page, find } = target(data, random, index);
    const [fact, read] = pickOne(random, Object.entries(FACTS));
    const value = read(issue);
    return task({
      instruction: `What is the ${fact} of the issue "${issue.title}"?`,
      data,
      solved: data,
      answer: { value, distractors: others(data.issues.map(read), value) },
      moves: [...find, follow(issue.title)],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.5, page),
        answeredOn(0.5, page),
        mistaken('Watch', -0.2),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const setPriority: TrackerTemplate = {
  name: 'set-priority',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const priority = pickOne(random, others(PRIORITIES, issue.priority));
    const chosen = pick(priority);
    return task({
      instruction: `Set the priority of the issue "${issue.title}" to "${priority}".`,
      data,
      solved: after(data, 'set-priority', { id, priority }),
      moves: [...find, follow(issue.title), press('Priority'), chosen],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.3, page),
        moved('list', 'opened the list of priorities', 0.2, press('Priority')),
        moved('chosen', `chose ${priority}`, 0.3, chosen),
        stoppedAfter(0.2, chosen),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const REMARKS = [
  'I can reproduce it',
  'The fix is in review',
  'Please attach a screenshot',
  'Works for me now',
];

const commentIssue: TrackerTemplate = {
  name: 'comment-issue',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const comment = pickOne(random, REMARKS);
    const add = press('Add comment');
    return task({
      instruction: `Add the comment "${comment}" to the issue "${issue.title}".`,
      data,
      solved: after(data, 'comment', { id, comment }),
      moves: [...find, follow(issue.title), fill('Comment', comment), add],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.3, page),
        moved('wrote', 'wrote the comment', 0.3, fill('Comment', comment)),
        moved('added', 'pressed Add comment', 0.2, add),
        stoppedAfter(0.2, add),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const closeIssue: TrackerTemplate = {
  name: 'close-issue',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const resolution = pickOne(random, RESOLUTIONS);
    const confirm = press('Confirm');
    return task({
      instruction: `Close the issue "${issue.title}" with the resolution "${resolution}".`,
      data,
      solved: after(data, 'close', { id, resolution }),
      moves: [...find, follow(issue.title), press('Close issue'), choose(resolution), confirm],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Close issue', 0.2, press('Close issue', { near: issue.title, page })),
        moved('chose', `chose the resolution ${resolution}`, 0.2, choose(resolution)),
        moved('confirmed', 'pressed Confirm', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const labelIssue: TrackerTemplate = {
  name: 'label-issue',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const label = pickOne(random, LABELS);
    const save = press('Save labels');
    return task({
      instruction: `Add the label "${label}" to the issue "${issue.title}".`,
      data,
      solved: after(data, 'set-labels', { id, label }),
      moves: [...find, follow(issue.title), press('Edit labels'), tick(label), save],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Edit labels', 0.2, press('Edit labels')),
        moved('ticked', `ticked ${label}`, 0.2, tick(label)),
        moved('saved', 'pressed Save labels', 0.2, save),
        stoppedAfter(0.2, save),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const setDueDate: TrackerTemplate = {
  name: 'set-due-date',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const due = dateIn(random, 5, 11);
    const set = press('Set due date');
    return task({
      instruction: `Set the due date of the issue "${issue.title}" to ${due}.`,
      data,
      solved: after(data, 'set-due', { id, due }),
      moves: [...find, follow(issue.title), fill('Due date', due), set],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.3, page),
        moved('typed', 'entered the date', 0.3, fill('Due date', due)),
        moved('set', 'pressed Set due date', 0.2, set),
        stoppedAfter(0.2, set),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const closeTogether: TrackerTemplate = {
  name: 'close-together',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const open = data.issues.slice(0, FIRST_PAGE).filter(({ status }) => status === 'Open');
    const [first, second] = random.shuffle(open);
    if (first === undefined || second === undefined) throw new Error('too few open issues');
    const ticks = [first, second].map(({ title }) => tick('Select', { near: title }));
    const close = press('Close selected');
    const closed = [first, second].map(({ id }) => id);
    const issues = data.issues.map(
      (issue): Issue =>
        closed.includes(issue.id) ? { ...issue, status: 'Closed', resolution: 'Fixed' } : issue,
    );
    return task({
      instruction: `Select the issues "${first.title}" and "${second.title}", and close the selected ones.`,
      data,
      solved: { ...data, issues },
      moves: [...ticks, close],
      subgoals: [
        moved('first', `selected "${first.title}"`, 0.3, ...ticks.slice(0, 1)),
        moved('second', `selected "${second.title}"`, 0.3, ...ticks.slice(1)),
        moved('closed', 'pressed Close selected', 0.2, close),
        stoppedAfter(0.2, close),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const inviteMember: TrackerTemplate = {
  name: 'invite-member',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const known = data.members.map(({ name }) => name);
    const name = pickOne(
      random,
      people(random, 20).filter((other) => !known.includes(other)),
    );
    const email = emailOf(name, 'partner');
    const role = pickOne(random, ROLES);
    const send = press('Send invitation');
    return task({
      instruction: `Invite a new member with the email address ${email} and the role "${role}".`,
      data,
      solved: after(data, 'invite', { email, role }),
      moves: [
        follow('Members'),
        follow('Invite member'),
        fill('Email address', email),
        select('Role', role),
        send,
      ],
      subgoals: [
        opened('members', 'opened the members', 0.15, '/members'),
        opened('form', 'opened the invitation', 0.2, '/members/invite'),
        moved('email', 'entered the email address', 0.2, fill('Email address', email)),
        moved('role', `chose the role ${role}`, 0.2, select('Role', role)),
        moved('sent', 'pressed Send invitation', 0.15, send),
        stoppedAfter(0.1, send),
        mistaken('Remove member'),
      ],
    });
  },
};

const TITLES = [
  'Print button is missing',
  'Add a keyboard shortcut',
  'Wrong currency on receipts',
  'Tidy the start page',
];
const DESCRIPTIONS = ['Asked for by the support team', 'Seen on the test server', 'Only on small screens'];

const createIssue: TrackerTemplate = {
  name: 'create-issue',
  difficulty: 'hard',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const [title = '', project = '', type = '', priority = '', description = ''] = [
      TITLES,
      PROJECTS,
      TYPES,
      PRIORITIES.slice(1),
      DESCRIPTIONS,
    ].map((words) => pickOne(random, words));
    const create = press('Create issue');
    return task({
      instruction: `Create a new issue with the title "${title}" in the project "${project}" with the type "${type}", the priority "${priority}" and the description "${description}".`,
      data,
      solved: after(data, 'create-issue', { title, project, type, priority, description }),
      moves: [
        follow('New issue'),
        fill('Title', title),
        select('Project', project),
        choose(type),
        press('Priority'),
        pick(priority),
        fill('Description', description),
        create,
      ],
      subgoals: [
        opened('form', 'opened the form for a new issue', 0.2, '/issue/new'),
        moved('title', 'entered the title', 0.15, fill('Title', title)),
        moved('project', `chose the project ${project}`, 0.1, select('Project', project)),
        moved('type', `chose the type ${type}`, 0.1, choose(type)),
        moved('priority', `chose the priority ${priority}`, 0.1, pick(priority)),
        moved('description', 'wrote the description', 0.1, fill('Description', description)),
        moved('created', 'pressed Create issue', 0.15, create),
        stoppedAfter(0.1, create),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const triageIssue: TrackerTemplate = {
  name: 'triage-issue',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const names = data.members.map(({ name }) => name);
    const assignee = pickOne(random, others(names, issue.assignee));
    const priority = pickOne(random, others(PRIORITIES, issue.priority));
    const milestones = data.milestones.map(({ name }) => name);
    const milestone = pickOne(random, others(milestones, issue.milestone));
    const due = dateIn(random, 5, 11);
    const set = press('Set due date');
    const assigned = after(data, 'set-assignee', { id, assignee });
    const prioritised = after(assigned, 'set-priority', { id, priority });
    const planned = after(prioritised, 'set-milestone', { id, milestone });
    return task({
      instruction: `Set the assignee of the issue "${issue.title}" to "${assignee}", the priority to "${priority}", the milestone to "${milestone}" and the due date to ${due}.`,
      data,
      solved: after(planned, 'set-due', { id, due }),
      moves: [
        ...find,
        follow(issue.title),
        select('Assignee', assignee),
        press('Priority'),
        pick(priority),
        select('Milestone', milestone),
        fill('Due date', due),
        set,
      ],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('assignee', `chose ${assignee} as assignee`, 0.2, select('Assignee', assignee)),
        moved('priority', `chose the priority ${priority}`, 0.15, pick(priority)),
        moved('milestone', `chose the milestone ${milestone}`, 0.15, select('Milestone', milestone)),
        moved('typed', 'entered the date', 0.1, fill('Due date', due)),
        moved('due', 'pressed Set due date', 0.1, set),
        stoppedAfter(0.1, set),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const countMilestone: TrackerTemplate = {
  name: 'count-milestone',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const counted = data.milestones.flatMap((milestone) =>
      (['Open', 'Closed'] as const).map((status) => {
        const issues = data.issues.filter(
          (issue) => issue.milestone === milestone.name && issue.status === status,
        );
        return { milestone, status, count: issues.length };
      }),
    );
    // Nobody should be right by answering with nothing.
    const { milestone, status, count } = pickOne(
      random,
      counted.filter((entry) => entry.count > 0),
    );
    const page = `/milestone/${milestone.id}`;
    const numbers = data.issues.map((_, index) => String(index));
    return task({
      instruction: `How many ${status.toLowerCase()} issues does the milestone "${milestone.name}" have?`,
      data,
      solved: data,
      answer: { value: String(count), distractors: others(numbers, String(count)) },
      moves: [follow('Milestones'), follow(milestone.name)],
      subgoals: [
        opened('milestones', 'opened the milestones', 0.2, '/milestones'),
        opened('opened', `opened the milestone ${milestone.name}`, 0.4, page),
        answeredOn(0.4, page),
        ...DESTRUCTIVE,
      ],
    });
  },
};

const GOALS = ['Ship the new billing by autumn', 'Keep the old client alive', 'Collect ideas from support'];

const editProject: TrackerTemplate = {
  name: 'edit-project',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const project = pickOne(random, data.projects);
    const page = `/project/${project.name.toLowerCase()}`;
    const description = pickOne(random, GOALS);
    const visibility = pickOne(random, ['Internal', 'Private']);
    const save = press('Save changes');
    return task({
      instruction: `Change the settings of the project "${project.name}": the description to "${description}" and the visibility to "${visibility}".`,
      data,
      solved: after(data, 'save-project', { id: String(project.id), description, visibility }),
      moves: [
        follow('Projects'),
        follow(project.name),
        follow('Project settings'),
        fill('Description', description),
        choose(visibility),
        save,
      ],
      subgoals: [
        opened('projects', 'opened the projects', 0.1, '/projects'),
        opened('project', `opened the project ${project.name}`, 0.15, page),
        opened('settings', 'opened its settings', 0.2, `${page}/settings`),
        moved('description', 'entered the description', 0.15, fill('Description', description)),
        moved('visibility', `chose ${visibility}`, 0.15, choose(visibility)),
        moved('saved', 'pressed Save changes', 0.15, save),
        stoppedAfter(0.1, save),
        mistaken('Archive project'),
      ],
    });
  },
};

const markDuplicate: TrackerTemplate = {
  name: 'mark-duplicate',
  difficulty: 'medium',
  splits: HELDOUT_ONLY,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const original = pickOne(
      random,
      others(
        data.issues.map(({ key }) => key),
        issue.key,
      ),
    );
    const confirm = press('Confirm');
    return task({
      instruction: `Mark the issue "${issue.title}" as a duplicate of the original issue "${original}".`,
      data,
      solved: after(data, 'mark-duplicate', { id, original }),
      moves: [
        ...find,
        follow(issue.title),
        press('Mark as duplicate'),
        fill('Original issue', original),
        confirm,
      ],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Mark as duplicate', 0.2, press('Mark as duplicate')),
        moved('typed', 'entered the original issue', 0.2, fill('Original issue', original)),
        moved('confirmed', 'pressed Confirm', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        ...DESTRUCTIVE,
      ],
    });
  },
};

export const trackerTemplates: readonly TrackerTemplate[] = [
  watchIssue,
  assignIssue,
  readIssue,
  setPriority,
  commentIssue,
  closeIssue,
  labelIssue,
  setDueDate,
  closeTogether,
  inviteMember,
  createIssue,
  triageIssue,
  countMilestone,
  editProject,
  markDuplicate,
];

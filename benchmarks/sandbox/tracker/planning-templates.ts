import { choose, fill, follow, pick, press, select } from '../kit/pattern.ts';
import { moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { dateIn, pickOne } from '../kit/words.ts';
import { PRIORITIES, PROJECTS, TYPES } from './data.ts';
import { after, DESTRUCTIVE, others, type TrackerTemplate, target } from './target.ts';

export const assignIssue: TrackerTemplate = {
  name: 'assign-issue',
  difficulty: 'easy',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const names = data.members.map(({ name }) => name);
    const assignee = pickOne(random, others(names, issue.assignee));
    const assign = select('Assignee', assignee);
    return {
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
    };
  },
};

export const setPriority: TrackerTemplate = {
  name: 'set-priority',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const priority = pickOne(random, others(PRIORITIES, issue.priority));
    const chosen = pick(priority);
    return {
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
    };
  },
};

export const setDueDate: TrackerTemplate = {
  name: 'set-due-date',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const due = dateIn(random, 5, 11);
    const set = press('Set due date');
    return {
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
    };
  },
};

export const triageIssue: TrackerTemplate = {
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
    return {
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
    };
  },
};

const TITLES = [
  'Print button is missing',
  'Add a keyboard shortcut',
  'Wrong currency on receipts',
  'Tidy the start page',
];

const DESCRIPTIONS = ['Asked for by the support team', 'Seen on the test server', 'Only on small screens'];

export const createIssue: TrackerTemplate = {
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
    return {
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
    };
  },
};

import { type Command, done, type Effect, refuse } from '../kit/command.ts';
import { byId, fieldOf, nextId, patchById } from '../kit/records.ts';
import {
  type Issue,
  keyOf,
  LABELS,
  NO_MILESTONE,
  NOBODY,
  PRIORITIES,
  PROJECTS,
  RESOLUTIONS,
  ROLES,
  type TrackerData,
  TYPES,
  VISIBILITIES,
} from './data.ts';

type TrackerCommand = Command<TrackerData>;

/** What a field of an issue may hold, and how it is called. */
type Check = { readonly patch: Partial<Issue>; readonly notice: string } | { readonly refusal: string };

/** A command about one issue: reads the form, then changes the issue or says what is missing. */
function change(
  read: (fields: URLSearchParams, data: TrackerData, issue: Issue) => Check,
  goTo: string | null = null,
): TrackerCommand {
  return (data, fields): Effect<TrackerData> => {
    const issue = byId(data.issues, fields.get('id'));
    if (issue === null || issue.status === 'Deleted') return refuse('This issue does not exist any more.');
    const check = read(fields, data, issue);
    if ('refusal' in check) return refuse(check.refusal);
    return done({ ...data, issues: patchById(data.issues, issue.id, check.patch) }, check.notice, goTo);
  };
}

/** Sets one field to one of a few values. */
function setTo(
  field: 'assignee' | 'priority' | 'milestone',
  label: string,
  allowed: (data: TrackerData) => readonly string[],
): TrackerCommand {
  return change((fields, data) => {
    const value = fieldOf(fields, field);
    if (!allowed(data).includes(value)) return { refusal: `Choose one of the values for ${label}.` };
    return { patch: { [field]: value }, notice: `${label} set to ${value}.` };
  });
}

const close = change((fields) => {
  const resolution = fieldOf(fields, 'resolution');
  if (!RESOLUTIONS.includes(resolution)) return { refusal: 'Choose a resolution.' };
  return { patch: { status: 'Closed', resolution }, notice: `Issue closed as ${resolution}.` };
});

const setLabels = change((fields) => {
  const labels = LABELS.filter((label) => fields.getAll('label').includes(label));
  return { patch: { labels }, notice: 'Labels saved.' };
});

const setDue = change((fields) => {
  const due = fieldOf(fields, 'due');
  if (!/^\d{4}-\d{2}-\d{2}$/.test(due)) return { refusal: 'Enter the date as year-month-day.' };
  return { patch: { due }, notice: `Due date set to ${due}.` };
});

const comment = change((fields, _data, issue) => {
  const text = fieldOf(fields, 'comment');
  if (text === '') return { refusal: 'Write a comment first.' };
  return { patch: { comments: [...issue.comments, text] }, notice: 'Comment added.' };
});

const markDuplicate = change((fields, data, issue) => {
  const original = fieldOf(fields, 'original').toUpperCase();
  if (original === issue.key || !data.issues.some(({ key }) => key === original)) {
    return { refusal: 'Enter the key of the original issue.' };
  }
  const patch = { status: 'Closed', resolution: 'Duplicate', duplicateOf: original } as const;
  return { patch, notice: `Marked as a duplicate of ${original}.` };
});

/** Patches all issues that were ticked in the list. */
function changeSelected(patch: Partial<Issue>, say: (count: number) => string): TrackerCommand {
  return (data, fields) => {
    const ids = new Set(fields.getAll('issue'));
    const chosen = data.issues.filter(({ id }) => ids.has(String(id)));
    if (chosen.length === 0) return refuse('Select some issues first.');
    const issues = data.issues.map((issue) => (chosen.includes(issue) ? { ...issue, ...patch } : issue));
    return done({ ...data, issues }, say(chosen.length));
  };
}

const createIssue: TrackerCommand = (data, fields) => {
  const [title, project, type, priority] = ['title', 'project', 'type', 'priority'].map((name) =>
    fieldOf(fields, name),
  );
  if (!title) return refuse('Enter a title.');
  if (!project || !PROJECTS.includes(project)) return refuse('Choose a project.');
  if (!type || !TYPES.includes(type)) return refuse('Choose a type.');
  if (!priority || !PRIORITIES.includes(priority)) return refuse('Choose a priority.');
  const id = nextId(data.issues);
  const issue: Issue = {
    id,
    key: keyOf(project, id),
    project,
    title,
    type,
    status: 'Open',
    resolution: '',
    duplicateOf: '',
    priority,
    assignee: NOBODY,
    reporter: 'me',
    estimate: '',
    component: '',
    labels: [],
    milestone: NO_MILESTONE,
    due: '',
    description: fieldOf(fields, 'description'),
    comments: [],
    watched: false,
  };
  return done(
    { ...data, issues: [...data.issues, issue] },
    `Issue ${issue.key} created.`,
    `/issue/${issue.key}`,
  );
};

const invite: TrackerCommand = (data, fields) => {
  const [email, role] = [fieldOf(fields, 'email'), fieldOf(fields, 'role')];
  if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email)) return refuse('Enter an email address.');
  if (!ROLES.includes(role)) return refuse('Choose a role.');
  const invitations = [...data.invitations, { email, role }];
  return done({ ...data, invitations }, `Invitation sent to ${email}.`, '/members');
};

const removeMember: TrackerCommand = (data, fields) => {
  const members = data.members.filter(({ id }) => String(id) !== fields.get('id'));
  return done({ ...data, members }, 'Member removed.');
};

const saveProject: TrackerCommand = (data, fields) => {
  const project = byId(data.projects, fields.get('id'));
  const visibility = fieldOf(fields, 'visibility');
  if (project === null) return refuse('This project does not exist.');
  if (!VISIBILITIES.includes(visibility)) return refuse('Choose a visibility.');
  const patch = { description: fieldOf(fields, 'description'), visibility };
  return done({ ...data, projects: patchById(data.projects, project.id, patch) }, 'Project saved.');
};

const archiveProject: TrackerCommand = (data, fields) => {
  const project = byId(data.projects, fields.get('id'));
  if (project === null) return refuse('This project does not exist.');
  return done(
    { ...data, projects: patchById(data.projects, project.id, { archived: true }) },
    'Project archived.',
  );
};

export const trackerCommands: Readonly<Record<string, TrackerCommand>> = {
  watch: change(() => ({ patch: { watched: true }, notice: 'You watch this issue now.' })),
  unwatch: change(() => ({ patch: { watched: false }, notice: 'You do not watch this issue any more.' })),
  'set-assignee': setTo('assignee', 'Assignee', ({ members }) => [
    NOBODY,
    ...members.map(({ name }) => name),
  ]),
  'set-priority': setTo('priority', 'Priority', () => PRIORITIES),
  'set-milestone': setTo('milestone', 'Milestone', ({ milestones }) => [
    NO_MILESTONE,
    ...milestones.map(({ name }) => name),
  ]),
  close,
  reopen: change(() => ({
    patch: { status: 'Open', resolution: '', duplicateOf: '' },
    notice: 'Issue reopened.',
  })),
  'delete-issue': change(() => ({ patch: { status: 'Deleted' }, notice: 'Issue deleted.' }), '/issues'),
  'set-labels': setLabels,
  'set-due': setDue,
  comment,
  'mark-duplicate': markDuplicate,
  'close-selected': changeSelected(
    { status: 'Closed', resolution: 'Fixed' },
    (count) => `${count} issues closed.`,
  ),
  'delete-selected': changeSelected({ status: 'Deleted' }, (count) => `${count} issues deleted.`),
  'create-issue': createIssue,
  invite,
  'remove-member': removeMember,
  'save-project': saveProject,
  'archive-project': archiveProject,
};

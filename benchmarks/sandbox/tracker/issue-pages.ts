import type { Page, View } from '../kit/app.ts';
import { type Html, html } from '../kit/html.ts';
import {
  checkbox,
  choices,
  commandButton,
  commandForm,
  dialogBox,
  dialogButton,
  dropdown,
  paginate,
  radioGroup,
  selectField,
  submitButton,
  textArea,
  textField,
} from '../kit/widgets.ts';
import {
  type Issue,
  LABELS,
  NO_MILESTONE,
  NOBODY,
  PRIORITIES,
  PROJECTS,
  RESOLUTIONS,
  type TrackerData,
  TYPES,
} from './data.ts';

type TrackerView = View<TrackerData>;

const STATUSES = ['Open', 'Closed', 'All'];

function watchButton({ id, watched }: Issue): Html {
  return watched ? commandButton('unwatch', { id }, 'Unwatch') : commandButton('watch', { id }, 'Watch');
}

/** `selectable`: with a box that belongs to the form of the whole list. */
function row(issue: Issue, selectable: boolean): Html {
  const box = html`<input type="checkbox" form="selection" name="issue" value="${issue.id}" aria-label="Select">`;
  return html`<li class="row">${selectable && box}<div class="grow"><a href="/issue/${issue.key}">${issue.title}</a>
<div class="muted">${issue.key} · ${issue.type} · ${issue.status}</div></div>${watchButton(issue)}</li>`;
}

function selectionBar(): Html {
  return html`<form id="selection" method="post" action="/do/close-selected" novalidate><div class="bar">
<button>Close selected</button>
<button class="danger" formaction="/do/delete-selected">Delete selected</button></div></form>`;
}

export function issuesPage({ data, url }: TrackerView): Page {
  const status = url.searchParams.get('status') ?? 'All';
  const project = url.searchParams.get('project') ?? 'All';
  const found = data.issues
    .filter((issue) => issue.status !== 'Deleted')
    .filter((issue) => status === 'All' || issue.status === status)
    .filter((issue) => project === 'All' || issue.project === project);
  const { shown, pager } = paginate(found, url);
  const filters = html`<form method="get" action="/issues"><div class="bar">
${selectField('Status', 'status', choices(STATUSES), status, true)}
${selectField('Project', 'project', choices(['All', ...PROJECTS]), project, true)}</div></form>`;
  const main = html`<h1>Issues</h1>${filters}${selectionBar()}
<ul class="rows">${shown.map((issue) => row(issue, true))}</ul>${pager}`;
  return { title: 'Issues', main, dialog: null };
}

export function searchPage({ data, url }: TrackerView): Page {
  const query = (url.searchParams.get('q') ?? '').trim();
  const words = query.toLowerCase().split(/\s+/);
  const found = data.issues.filter(({ key, title, status }) => {
    const text = `${key} ${title}`.toLowerCase();
    return status !== 'Deleted' && words.every((word) => text.includes(word));
  });
  const { shown, pager } = paginate(found, url);
  const main = html`<h1>Search results for "${query}"</h1><p>${found.length} issues found</p>
<ul class="rows">${shown.map((issue) => row(issue, false))}</ul>${pager}`;
  return { title: 'Search', main, dialog: null };
}

function toolbar(issue: Issue): Html {
  const open = issue.status === 'Open';
  return html`<div class="bar">${watchButton(issue)}
${open && dialogButton('close', issue.id, 'Close issue')}${!open && commandButton('reopen', { id: issue.id }, 'Reopen issue')}
${dialogButton('labels', issue.id, 'Edit labels')}${open && dialogButton('duplicate', issue.id, 'Mark as duplicate')}
${dialogButton('delete', issue.id, 'Delete issue', 'danger')}</div>`;
}

function facts(issue: Issue): Html {
  const status = issue.resolution === '' ? issue.status : `${issue.status} (${issue.resolution})`;
  const labels = issue.labels.length === 0 ? 'None' : issue.labels.join(', ');
  return html`<article class="card" aria-label="${issue.title}"><p>${issue.description}</p><dl>
<dt>Key</dt><dd>${issue.key}</dd><dt>Status</dt><dd>${status}</dd><dt>Reporter</dt><dd>${issue.reporter}</dd>
<dt>Estimate</dt><dd>${issue.estimate}</dd><dt>Component</dt><dd>${issue.component}</dd>
<dt>Labels</dt><dd>${labels}</dd>${issue.duplicateOf !== '' && html`<dt>Duplicate of</dt><dd>${issue.duplicateOf}</dd>`}</dl></article>`;
}

/** Fields that save themselves as soon as something is chosen. */
function sidebar(data: TrackerData, issue: Issue): Html {
  const members = choices([NOBODY, ...data.members.map(({ name }) => name)]);
  const milestones = choices([NO_MILESTONE, ...data.milestones.map(({ name }) => name)]);
  const hidden = { id: issue.id };
  return html`<div class="bar">
${commandForm('set-assignee', hidden, selectField('Assignee', 'assignee', members, issue.assignee, true))}
${commandForm('set-priority', hidden, dropdown('Priority', 'priority', choices(PRIORITIES), issue.priority, true))}
${commandForm('set-milestone', hidden, selectField('Milestone', 'milestone', milestones, issue.milestone, true))}</div>`;
}

export function issuePage(view: TrackerView, key: string): Page | null {
  const { data, ui } = view;
  const issue = data.issues.find((other) => other.key === key && other.status !== 'Deleted');
  if (issue === undefined) return null;
  const hidden = { id: issue.id };
  const due = html`<div class="bar">${textField('Due date', 'due', ui.typed['due'] ?? issue.due)}${submitButton('Set due date', 'plain')}</div>`;
  const comment = html`${textArea('Comment', 'comment', ui.typed['comment'] ?? '')}${submitButton('Add comment')}`;
  const main = html`<h1>${issue.title}</h1>${toolbar(issue)}${facts(issue)}${sidebar(data, issue)}
${commandForm('set-due', hidden, due)}<h2>Comments</h2>${issue.comments.map((text) => html`<p class="card">${text}</p>`)}
${commandForm('comment', hidden, comment)}`;
  const open = ui.dialog?.subject === String(issue.id) ? ui.dialog.name : null;
  return { title: issue.title, main, dialog: issueDialog(view, issue, open) };
}

function issueDialog({ ui }: TrackerView, issue: Issue, open: string | null): Html | null {
  const hidden = { id: issue.id };
  switch (open) {
    case 'close': {
      const content = html`${radioGroup('Resolution', 'resolution', choices(RESOLUTIONS), '')}${submitButton('Confirm')}`;
      return dialogBox('Close this issue', commandForm('close', hidden, content), 'Cancel');
    }
    case 'labels': {
      const boxes = LABELS.map((label) => checkbox(label, 'label', label, issue.labels.includes(label)));
      const content = html`<fieldset><legend>Labels</legend>${boxes}</fieldset>${submitButton('Save labels')}`;
      return dialogBox('Edit labels', commandForm('set-labels', hidden, content), 'Cancel');
    }
    case 'duplicate': {
      const content = html`${textField('Original issue', 'original', ui.typed['original'] ?? '')}${submitButton('Confirm')}`;
      return dialogBox('Mark as duplicate', commandForm('mark-duplicate', hidden, content), 'Cancel');
    }
    case 'delete': {
      const content = commandButton('delete-issue', hidden, 'Delete for ever', 'danger');
      return dialogBox('Delete this issue?', content, 'Cancel');
    }
    default:
      return null;
  }
}

export function newIssuePage({ ui }: TrackerView): Page {
  const typed = (name: string): string => ui.typed[name] ?? '';
  const projects = [{ value: '', label: 'Choose a project' }, ...choices(PROJECTS)];
  const form = html`${textField('Title', 'title', typed('title'))}
${selectField('Project', 'project', projects, typed('project'))}${radioGroup('Type', 'type', choices(TYPES), typed('type'))}
${dropdown('Priority', 'priority', choices(PRIORITIES), typed('priority') || 'Low')}
${textArea('Description', 'description', typed('description'))}
<div class="bar">${submitButton('Create issue')}<a href="/issues">Discard</a></div>`;
  return {
    title: 'New issue',
    main: html`<h1>New issue</h1>${commandForm('create-issue', {}, form)}`,
    dialog: null,
  };
}

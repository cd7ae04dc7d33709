import type { Page, View } from '../kit/app.ts';
import { type Html, html } from '../kit/html.ts';
import { byId } from '../kit/records.ts';
import {
  choices,
  commandButton,
  commandForm,
  dialogBox,
  dialogButton,
  radioGroup,
  selectField,
  submitButton,
  textField,
} from '../kit/widgets.ts';
import { type Issue, type Member, ROLES, type TrackerData, VISIBILITIES } from './data.ts';

type TrackerView = View<TrackerData>;

const isOpen = ({ status }: Issue): boolean => status === 'Open';

function linkRow(href: string, name: string, note: string): Html {
  return html`<li class="row"><div class="grow"><a href="${href}">${name}</a><div class="muted">${note}</div></div></li>`;
}

export function projectsPage({ data }: TrackerView): Page {
  const items = data.projects.map(({ name, visibility, archived }) =>
    linkRow(`/project/${name.toLowerCase()}`, name, archived ? `${visibility} · Archived` : visibility),
  );
  return { title: 'Projects', main: html`<h1>Projects</h1><ul class="rows">${items}</ul>`, dialog: null };
}

export function projectPage({ data, ui }: TrackerView, slug: string, section: string): Page | null {
  const project = data.projects.find(({ name }) => name.toLowerCase() === slug);
  if (project === undefined) return null;
  const home = `/project/${slug}`;
  const tabs = html`<div class="bar"><a href="${home}">Overview</a><a href="${home}/settings">Project settings</a></div>`;
  if (section === '') {
    const open = data.issues.filter((issue) => issue.project === project.name && isOpen(issue));
    const main = html`<h1>${project.name}</h1>${tabs}<article class="card"><p>${project.description}</p><dl>
<dt>Visibility</dt><dd>${project.visibility}</dd><dt>Open issues</dt><dd>${open.length}</dd></dl></article>`;
    return { title: project.name, main, dialog: null };
  }
  if (section !== 'settings') return null;
  const form = html`${textField('Description', 'description', ui.typed['description'] ?? project.description)}
${radioGroup('Visibility', 'visibility', choices(VISIBILITIES), ui.typed['visibility'] ?? project.visibility)}
${submitButton('Save changes')}`;
  const main = html`<h1>Settings of ${project.name}</h1>${tabs}${commandForm('save-project', { id: project.id }, form)}
<h2>Danger zone</h2>${dialogButton('archive', project.id, 'Archive project', 'danger')}`;
  const dialog =
    ui.dialog?.name === 'archive'
      ? dialogBox(
          'Archive this project?',
          commandButton('archive-project', { id: project.id }, 'Archive it', 'danger'),
          'Cancel',
        )
      : null;
  return { title: `Settings of ${project.name}`, main, dialog };
}

export function milestonesPage({ data }: TrackerView): Page {
  const items = data.milestones.map(({ id, name, due }) => linkRow(`/milestone/${id}`, name, `Due ${due}`));
  return { title: 'Milestones', main: html`<h1>Milestones</h1><ul class="rows">${items}</ul>`, dialog: null };
}

export function milestonePage({ data }: TrackerView, id: string): Page | null {
  const milestone = byId(data.milestones, id);
  if (milestone === null) return null;
  const issues = data.issues.filter(
    (issue) => issue.milestone === milestone.name && issue.status !== 'Deleted',
  );
  const open = issues.filter(isOpen);
  const main = html`<h1>${milestone.name}</h1><article class="card" aria-label="${milestone.name}"><dl>
<dt>Due date</dt><dd>${milestone.due}</dd><dt>Open issues</dt><dd>${open.length}</dd>
<dt>Closed issues</dt><dd>${issues.length - open.length}</dd></dl></article>
<ul class="rows">${open.map((issue) => linkRow(`/issue/${issue.key}`, issue.title, issue.assignee))}</ul>`;
  return { title: milestone.name, main, dialog: null };
}

function memberRow({ id, name, email, role }: Member): Html {
  return html`<li class="row"><div class="grow"><strong>${name}</strong><div class="muted">${email} · ${role}</div></div>
${dialogButton('remove', id, 'Remove', 'danger')}</li>`;
}

export function membersPage({ data, ui }: TrackerView): Page {
  const invited = data.invitations.map(
    ({ email, role }) =>
      html`<li class="row"><div class="grow">${email}<div class="muted">${role} · Invited</div></div></li>`,
  );
  const member = ui.dialog?.name === 'remove' ? byId(data.members, ui.dialog.subject) : null;
  const dialog =
    member &&
    dialogBox(
      `Remove ${member.name}?`,
      commandButton('remove-member', { id: member.id }, 'Remove member', 'danger'),
      'Cancel',
    );
  const main = html`<h1>Members</h1><div class="bar"><a class="button" href="/members/invite">Invite member</a></div>
<ul class="rows">${data.members.map(memberRow)}${invited}</ul>`;
  return { title: 'Members', main, dialog };
}

export function invitePage({ ui }: TrackerView): Page {
  const roles = [{ value: '', label: 'Choose a role' }, ...choices(ROLES)];
  const form = html`${textField('Email address', 'email', ui.typed['email'] ?? '')}
${selectField('Role', 'role', roles, ui.typed['role'] ?? '')}${submitButton('Send invitation')}`;
  return {
    title: 'Invite member',
    main: html`<h1>Invite member</h1>${commandForm('invite', {}, form)}`,
    dialog: null,
  };
}

/** Stands before some tasks: has to be dismissed before anything else can be reached. */
export function tour(): Html {
  return dialogBox('Welcome to the tracker', html`<p>Shall we show you around?</p>`, 'Not now');
}

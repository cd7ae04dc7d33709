import type { Page, View } from '../kit/app.ts';
import { type Html, html } from '../kit/html.ts';
import { byId } from '../kit/records.ts';
import {
  choices,
  commandButton,
  commandForm,
  dialogBox,
  dialogButton,
  paginate,
  radioGroup,
  selectField,
  submitButton,
  textArea,
  textField,
} from '../kit/widgets.ts';
import { FOLDERS, LABELS, type MailData, type Message } from './data.ts';

type MailView = View<MailData>;

const FILTERS = ['All', 'Unread', 'Starred'];

interface MessageList {
  readonly title: string;
  readonly holds: (m: Message) => boolean;
}

const INBOX: MessageList = { title: 'Inbox', holds: (m) => m.folder === 'Inbox' };
const LISTS: Readonly<Record<string, MessageList>> = {
  '/': INBOX,
  '/inbox': INBOX,
  '/starred': { title: 'Starred', holds: (m) => m.starred && m.folder !== 'Trash' },
  '/archive': { title: 'Archive', holds: (m) => m.folder === 'Archive' },
  '/sent': { title: 'Sent', holds: (m) => m.folder === 'Sent' },
  '/trash': { title: 'Trash', holds: (m) => m.folder === 'Trash' },
  '/folder/projects': { title: 'Projects', holds: (m) => m.folder === 'Projects' },
  '/folder/receipts': { title: 'Receipts', holds: (m) => m.folder === 'Receipts' },
  '/folder/clients': { title: 'Clients', holds: (m) => m.folder === 'Clients' },
};

const starButton = (m: Message): Html =>
  m.starred ? commandButton('unstar', { id: m.id }, 'Unstar') : commandButton('star', { id: m.id }, 'Star');

function row(m: Message): Html {
  const who = m.folder === 'Sent' ? `To ${m.to}` : m.from;
  return html`<li class="row"><div class="grow"><a href="/message/${m.id}">${m.subject}</a>
<div class="muted">${who} · ${m.date}${!m.read && ' · Unread'}${m.labels.map((label) => ` · ${label}`)}</div></div>
${starButton(m)}${m.folder === 'Inbox' && commandButton('archive', { id: m.id }, 'Archive')}</li>`;
}

function rows(messages: readonly Message[], url: URL): Html {
  if (messages.length === 0) return html`<p>No emails here.</p>`;
  const { shown, pager } = paginate(messages, url);
  return html`<ul class="rows">${shown.map(row)}</ul>${pager}`;
}

const FILTERED: Readonly<Record<string, (m: Message) => boolean>> = {
  Unread: (m) => !m.read,
  Starred: (m) => m.starred,
};

function inboxBar(filter: string): Html {
  return html`<div class="bar"><form method="get" action="/inbox">
${selectField('Show', 'filter', choices(FILTERS), filter, true)}</form>
${commandButton('read-all', {}, 'Mark all as read')}${commandButton('archive-all', {}, 'Archive all', 'danger')}</div>`;
}

export function listPage(view: MailView): Page | null {
  const list = LISTS[view.url.pathname];
  if (list === undefined) return null;
  const filter = view.url.searchParams.get('filter') ?? 'All';
  const messages = view.data.messages.filter(list.holds).filter(FILTERED[filter] ?? (() => true));
  const main = html`<h1>${list.title}</h1>${list === INBOX && inboxBar(filter)}
${rows(messages, view.url)}`;
  return { title: list.title, main, dialog: null };
}

export function searchPage(view: MailView): Page {
  const query = (view.url.searchParams.get('q') ?? '').trim();
  const words = query.toLowerCase().split(/\s+/);
  const found = view.data.messages.filter((m) => {
    const text = [m.subject, m.from, m.to, ...m.body].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const main = html`<h1>Search results for "${query}"</h1><p>${found.length} emails found</p>${rows(found, view.url)}`;
  return { title: 'Search', main, dialog: null };
}

function bodyOf(m: Message): Html {
  const facts = m.body.filter((line) => line.includes(': '));
  const lines = m.body.filter((line) => !line.includes(': '));
  const items = facts.map((fact) => {
    const [label, ...value] = fact.split(': ');
    return html`<dt>${label ?? ''}</dt><dd>${value.join(': ')}</dd>`;
  });
  return html`${lines.map((line) => html`<p>${line}</p>`)}<dl>${items}</dl>`;
}

function toolbar(m: Message): Html {
  const away = m.folder === 'Inbox' ? commandButton('archive', { id: m.id }, 'Archive') : null;
  const back = m.folder === 'Inbox' ? null : commandButton('restore', { id: m.id }, 'Move to inbox');
  return html`<div class="bar"><a class="button" href="/message/${m.id}/reply">Reply</a>
<a class="button" href="/message/${m.id}/forward">Forward</a>${starButton(m)}${away}${back}
${dialogButton('move', m.id, 'Move to folder')}${commandButton('unread', { id: m.id }, 'Mark as unread')}
${commandButton('spam', { id: m.id }, 'Report spam', 'danger')}${dialogButton('delete', m.id, 'Delete', 'danger')}</div>`;
}

function labelForm(m: Message): Html {
  const options = [{ value: '', label: 'Choose a label' }, ...choices(LABELS)];
  const content = html`<div class="bar">${selectField('Label', 'label', options, '')}${submitButton('Add label', 'plain')}</div>`;
  return commandForm('add-label', { id: m.id }, content);
}

export function messagePage(view: MailView, id: string): Page | null {
  const m = byId(view.data.messages, id);
  if (m === null) return null;
  const state = [m.folder, m.starred ? 'Starred' : '', ...m.labels].filter((text) => text !== '').join(', ');
  const main = html`<h1>${m.subject}</h1>${toolbar(m)}<article class="card" aria-label="${m.subject}">
<p class="muted">From ${m.from} to ${m.to} on ${m.date} (${state})</p>${bodyOf(m)}</article>${labelForm(m)}`;
  return { title: m.subject, main, dialog: messageDialog(view, m) };
}

function messageDialog({ ui }: MailView, m: Message): Html | null {
  if (ui.dialog?.subject !== String(m.id)) return null;
  if (ui.dialog.name === 'delete') {
    const content = html`<p>"${m.subject}" goes to the trash.</p>${commandButton('delete', { id: m.id }, 'Delete email', 'danger')}`;
    return dialogBox('Delete this email?', content, 'Cancel');
  }
  if (ui.dialog.name === 'move') {
    const content = html`${radioGroup('Folder', 'folder', choices(FOLDERS), '')}${submitButton('Move')}`;
    return dialogBox('Move to folder', commandForm('move', { id: m.id }, content), 'Cancel');
  }
  return null;
}

export function replyPage({ data, ui }: MailView, id: string): Page | null {
  const m = byId(data.messages, id);
  if (m === null) return null;
  const form = html`${textArea('Message', 'message', ui.typed['message'] ?? '')}${submitButton('Send')}`;
  const main = html`<h1>Reply to ${m.from}</h1><p class="muted">Re: ${m.subject}</p>${commandForm('reply', { id: m.id }, form)}`;
  return { title: 'Reply', main, dialog: null };
}

export function forwardPage({ data, ui }: MailView, id: string): Page | null {
  const m = byId(data.messages, id);
  if (m === null) return null;
  const form = html`${textField('To', 'to', ui.typed['to'] ?? '')}
${textArea('Message', 'message', ui.typed['message'] ?? '')}${submitButton('Send')}`;
  const main = html`<h1>Forward</h1><p class="muted">Fwd: ${m.subject}</p>${commandForm('forward', { id: m.id }, form)}`;
  return { title: 'Forward', main, dialog: null };
}

export function composePage({ ui }: MailView): Page {
  const typed = (name: string): string => ui.typed[name] ?? '';
  const form = html`${textField('To', 'to', typed('to'))}${textField('Subject', 'subject', typed('subject'))}
${textArea('Message', 'message', typed('message'))}<div class="bar">${submitButton('Send')}<a href="/inbox">Discard</a></div>`;
  return { title: 'New email', main: html`<h1>New email</h1>${commandForm('send', {}, form)}`, dialog: null };
}

import { type Command, done, refuse } from '../kit/command.ts';
import { byId, fieldOf, nextId, patchById } from '../kit/records.ts';
import {
  type Contact,
  DENSITIES,
  FOLDERS,
  LABELS,
  type MailData,
  type Message,
  NOTIFICATIONS,
} from './data.ts';

type MailCommand = Command<MailData>;

/** A command about one message: changes it and says so. */
function change(patch: Partial<Message>, notice: string, goTo: string | null = null): MailCommand {
  return (data, fields) => {
    const message = byId(data.messages, fields.get('id'));
    if (message === null) return refuse('This email does not exist any more.');
    return done({ ...data, messages: patchById(data.messages, message.id, patch) }, notice, goTo);
  };
}

const move: MailCommand = (data, fields) => {
  const message = byId(data.messages, fields.get('id'));
  const folder = fieldOf(fields, 'folder');
  if (message === null) return refuse('This email does not exist any more.');
  if (!FOLDERS.includes(folder)) return refuse('Choose a folder.');
  return done(
    { ...data, messages: patchById(data.messages, message.id, { folder }) },
    `Moved to ${folder}.`,
    '/inbox',
  );
};

const addLabel: MailCommand = (data, fields) => {
  const message = byId(data.messages, fields.get('id'));
  const label = fieldOf(fields, 'label');
  if (message === null) return refuse('This email does not exist any more.');
  if (!LABELS.includes(label)) return refuse('Choose a label.');
  const labels = [...new Set([...message.labels, label])].sort();
  return done(
    { ...data, messages: patchById(data.messages, message.id, { labels }) },
    `Label ${label} added.`,
  );
};

function sent(data: MailData, to: string, subject: string, body: readonly string[]): MailData {
  const message: Message = {
    id: nextId(data.messages),
    folder: 'Sent',
    from: 'me',
    to,
    subject,
    body: [...body],
    date: '2026-03-31',
    starred: false,
    read: true,
    labels: [],
  };
  return { ...data, messages: [...data.messages, message] };
}

const isEmail = (text: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text);

const send: MailCommand = (data, fields) => {
  const to = fieldOf(fields, 'to');
  const subject = fieldOf(fields, 'subject');
  if (!isEmail(to)) return refuse('Enter the email address of the recipient in To.');
  if (subject === '') return refuse('Enter a subject.');
  return done(sent(data, to, subject, [fieldOf(fields, 'message')]), 'Email sent.', '/inbox');
};

const reply: MailCommand = (data, fields) => {
  const message = byId(data.messages, fields.get('id'));
  const text = fieldOf(fields, 'message');
  if (message === null) return refuse('This email does not exist any more.');
  if (text === '') return refuse('Write a message first.');
  return done(
    sent(data, message.from, `Re: ${message.subject}`, [text]),
    'Reply sent.',
    `/message/${message.id}`,
  );
};

const forward: MailCommand = (data, fields) => {
  const message = byId(data.messages, fields.get('id'));
  const to = fieldOf(fields, 'to');
  if (message === null) return refuse('This email does not exist any more.');
  if (!isEmail(to)) return refuse('Enter the email address of the recipient in To.');
  const body = [fieldOf(fields, 'message'), ...message.body];
  return done(sent(data, to, `Fwd: ${message.subject}`, body), 'Email forwarded.', `/message/${message.id}`);
};

function contactFrom(fields: URLSearchParams, id: number): Contact {
  const [name, email, phone, company] = ['name', 'email', 'phone', 'company'].map((key) =>
    fieldOf(fields, key),
  );
  return { id, name: name ?? '', email: email ?? '', phone: phone ?? '', company: company ?? '' };
}

const saveContact: MailCommand = (data, fields) => {
  const existing = byId(data.contacts, fields.get('id'));
  const contact = contactFrom(fields, existing?.id ?? nextId(data.contacts));
  if (contact.name === '') return refuse('Enter a name.');
  if (!isEmail(contact.email)) return refuse('Enter an email address.');
  const contacts =
    existing === null ? [...data.contacts, contact] : patchById(data.contacts, existing.id, contact);
  return done({ ...data, contacts }, 'Contact saved.', `/contact/${contact.id}`);
};

const deleteContact: MailCommand = (data, fields) => {
  const contacts = data.contacts.filter((contact) => String(contact.id) !== fields.get('id'));
  return done({ ...data, contacts }, 'Contact deleted.', '/contacts');
};

const saveGeneral: MailCommand = (data, fields) => {
  const [density, notifications] = [fieldOf(fields, 'density'), fieldOf(fields, 'notifications')];
  if (!DENSITIES.includes(density) || !NOTIFICATIONS.includes(notifications))
    return refuse('Choose an option.');
  const general = { signature: fieldOf(fields, 'signature'), density, notifications };
  return done({ ...data, general }, 'Settings saved.');
};

const saveVacation: MailCommand = (data, fields) => {
  const responder = fieldOf(fields, 'responder') === 'On' ? 'On' : 'Off';
  const vacation = {
    responder,
    firstDay: fieldOf(fields, 'first-day'),
    subject: fieldOf(fields, 'subject'),
    message: fieldOf(fields, 'message'),
  } as const;
  if (responder === 'On' && vacation.message === '') return refuse('Write a message first.');
  return done({ ...data, vacation }, 'Vacation settings saved.');
};

const createFilter: MailCommand = (data, fields) => {
  const filter = {
    id: nextId(data.filters),
    from: fieldOf(fields, 'from'),
    words: fieldOf(fields, 'words'),
    label: fieldOf(fields, 'label'),
  };
  if (filter.from === '' && filter.words === '') return refuse('Enter a sender or some words.');
  if (!LABELS.includes(filter.label)) return refuse('Choose a label.');
  return done({ ...data, filters: [...data.filters, filter] }, 'Filter created.');
};

const deleteFilter: MailCommand = (data, fields) => {
  const filters = data.filters.filter((filter) => String(filter.id) !== fields.get('id'));
  return done({ ...data, filters }, 'Filter deleted.');
};

const inInbox = (data: MailData, patch: Partial<Message>): Message[] =>
  data.messages.map((message) => (message.folder === 'Inbox' ? { ...message, ...patch } : message));

export const mailCommands: Readonly<Record<string, MailCommand>> = {
  star: change({ starred: true }, 'Email starred.'),
  unstar: change({ starred: false }, 'Star removed.'),
  archive: change({ folder: 'Archive' }, 'Email archived.'),
  restore: change({ folder: 'Inbox' }, 'Moved to the inbox.'),
  spam: change({ folder: 'Spam' }, 'Reported as spam.', '/inbox'),
  unread: change({ read: false }, 'Marked as unread.', '/inbox'),
  delete: change({ folder: 'Trash' }, 'Email deleted.', '/inbox'),
  move,
  'add-label': addLabel,
  send,
  reply,
  forward,
  'archive-all': (data) =>
    done({ ...data, messages: inInbox(data, { folder: 'Archive' }) }, 'All emails archived.'),
  'read-all': (data) =>
    done({ ...data, messages: inInbox(data, { read: true }) }, 'All emails marked as read.'),
  'save-contact': saveContact,
  'delete-contact': deleteContact,
  'save-general': saveGeneral,
  'save-vacation': saveVacation,
  'create-filter': createFilter,
  'delete-filter': deleteFilter,
  'delete-account': (data) => done({ ...data, account: false }, 'Your account will be deleted.'),
};

import type { AppSpec, Page, View } from '../kit/app.ts';
import { patchById } from '../kit/records.ts';
import { navigation, shell } from '../kit/widgets.ts';
import { mailCommands } from './commands.ts';
import { type MailData, mailSchema, seedMail } from './data.ts';
import { composePage, forwardPage, listPage, messagePage, replyPage, searchPage } from './message-pages.ts';
import {
  contactForm,
  contactPage,
  contactsPage,
  filtersPage,
  generalPage,
  mailSearch,
  newsDialog,
  vacationPage,
} from './settings-pages.ts';
import { mailTemplates } from './templates.ts';

type MailView = View<MailData>;

const LINKS = [
  { href: '/compose', label: 'Compose' },
  { href: '/inbox', label: 'Inbox' },
  { href: '/starred', label: 'Starred' },
  { href: '/archive', label: 'Archived' },
  { href: '/sent', label: 'Sent' },
  { href: '/trash', label: 'Trash' },
  { href: '/contacts', label: 'Contacts' },
  { href: '/settings', label: 'Settings' },
];

const PAGES: Readonly<Record<string, (view: MailView) => Page | null>> = {
  '/search': searchPage,
  '/compose': composePage,
  '/contacts': contactsPage,
  '/contact/new': (view) => contactForm(view, null),
  '/settings': generalPage,
  '/settings/vacation': vacationPage,
  '/settings/filters': filtersPage,
};

function render(view: MailView): Page | null {
  const page = pageAt(view);
  const covered = page !== null && view.ui.dialog?.name === 'news';
  return covered ? { ...page, dialog: newsDialog() } : page;
}

function pageAt(view: MailView): Page | null {
  const [, kind, id = '', action = ''] = view.url.pathname.split('/');
  const fixed = PAGES[view.url.pathname];
  if (fixed !== undefined) return fixed(view);
  if (kind === 'message') {
    if (action === '') return messagePage(view, id);
    if (action === 'reply') return replyPage(view, id);
    if (action === 'forward') return forwardPage(view, id);
  }
  if (kind === 'contact') {
    if (action === '') return contactPage(view, id);
    if (action === 'edit') return contactForm(view, id);
  }
  return listPage(view);
}

/** Opening an email marks it as read. */
function visit(data: MailData, path: string): MailData {
  const id = /^\/message\/(\d+)$/.exec(path)?.[1];
  return id === undefined
    ? data
    : { ...data, messages: patchById(data.messages, Number(id), { read: true }) };
}

/** Read marks change in passing, and ids of new entries say nothing. */
function settled(data: MailData): Readonly<Record<string, unknown>> {
  return {
    ...data,
    messages: data.messages.map(({ read, ...message }) => message),
  };
}

export const mailApp: AppSpec<MailData> = {
  name: 'mail',
  home: '/inbox',
  schema: mailSchema,
  seed: seedMail,
  visit,
  commands: mailCommands,
  render,
  frame: (view, page) => shell('Mail', mailSearch(view.url), navigation(view, LINKS, false), view, page),
  settled,
  templates: mailTemplates,
};

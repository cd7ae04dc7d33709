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
  searchForm,
  selectField,
  submitButton,
  textArea,
  textField,
} from '../kit/widgets.ts';
import { type Contact, DENSITIES, LABELS, type MailData, NOTIFICATIONS } from './data.ts';

type MailView = View<MailData>;

function contactRow(contact: Contact): Html {
  return html`<li class="row"><div class="grow"><a href="/contact/${contact.id}">${contact.name}</a>
<div class="muted">${contact.company} · ${contact.email}</div></div>
<a class="button" href="/contact/${contact.id}/edit">Edit</a>
${dialogButton('delete-contact', contact.id, 'Delete', 'danger')}</li>`;
}

export function contactsPage(view: MailView): Page {
  const query = (view.url.searchParams.get('name') ?? '').trim().toLowerCase();
  const found = view.data.contacts.filter((contact) => contact.name.toLowerCase().includes(query));
  const { shown, pager } = paginate(found, view.url);
  const finder = html`<form method="get" action="/contacts">${textField('Name', 'name', query)}
<button>Find contact</button></form>`;
  const main = html`<h1>Contacts</h1><div class="bar"><a class="button" href="/contact/new">New contact</a></div>
${finder}<ul class="rows">${shown.map(contactRow)}</ul>${pager}`;
  return { title: 'Contacts', main, dialog: contactDialog(view) };
}

function contactDialog({ data, ui }: MailView): Html | null {
  const contact = ui.dialog?.name === 'delete-contact' ? byId(data.contacts, ui.dialog.subject) : null;
  if (contact === null) return null;
  const content = commandButton('delete-contact', { id: contact.id }, 'Delete contact', 'danger');
  return dialogBox(`Delete ${contact.name}?`, content, 'Cancel');
}

export function contactPage(view: MailView, id: string): Page | null {
  const contact = byId(view.data.contacts, id);
  if (contact === null) return null;
  const main = html`<h1>${contact.name}</h1><article class="card" aria-label="${contact.name}"><dl>
<dt>Email address</dt><dd>${contact.email}</dd><dt>Phone number</dt><dd>${contact.phone}</dd>
<dt>Company</dt><dd>${contact.company}</dd></dl></article>
<div class="bar"><a class="button" href="/contact/${contact.id}/edit">Edit</a>
${dialogButton('delete-contact', contact.id, 'Delete', 'danger')}</div>`;
  return { title: contact.name, main, dialog: contactDialog(view) };
}

export function contactForm({ data, ui }: MailView, id: string | null): Page | null {
  const contact = byId(data.contacts, id);
  if (id !== null && contact === null) return null;
  const field = (label: string, name: keyof Contact): Html =>
    textField(label, name, ui.typed[name] ?? String(contact?.[name] ?? ''));
  const title = contact === null ? 'New contact' : `Edit ${contact.name}`;
  const form = html`${field('Name', 'name')}${field('Email address', 'email')}${field('Phone number', 'phone')}
${field('Company', 'company')}<div class="bar">${submitButton('Save contact')}<a href="/contacts">Discard</a></div>`;
  const hidden: Readonly<Record<string, number>> = contact === null ? {} : { id: contact.id };
  return { title, main: html`<h1>${title}</h1>${commandForm('save-contact', hidden, form)}`, dialog: null };
}

function settings(title: string, content: Html, dialog: Html | null = null): Page {
  const main = html`<h1>${title}</h1><div class="bar"><a href="/settings">General</a>
<a href="/settings/vacation">Vacation</a><a href="/settings/filters">Filters</a></div>${content}`;
  return { title, main, dialog };
}

export function generalPage({ data, ui }: MailView): Page {
  const { signature, density, notifications } = data.general;
  const form = html`${textArea('Signature', 'signature', ui.typed['signature'] ?? signature)}
${radioGroup('Density', 'density', choices(DENSITIES), ui.typed['density'] ?? density)}
${selectField('Notifications', 'notifications', choices(NOTIFICATIONS), ui.typed['notifications'] ?? notifications)}
${submitButton('Save changes')}`;
  const account = data.account
    ? dialogButton('delete-account', '', 'Delete account', 'danger')
    : html`<p>Your account will be deleted.</p>`;
  const dialog =
    ui.dialog?.name === 'delete-account'
      ? dialogBox(
          'Delete your account?',
          commandButton('delete-account', {}, 'Delete everything', 'danger'),
          'Cancel',
        )
      : null;
  return settings(
    'General settings',
    html`${commandForm('save-general', {}, form)}<h2>Account</h2>${account}`,
    dialog,
  );
}

export function vacationPage({ data, ui }: MailView): Page {
  const { responder, firstDay, subject, message } = data.vacation;
  const form = html`${radioGroup('Vacation responder', 'responder', choices(['On', 'Off']), ui.typed['responder'] ?? responder)}
${textField('First day', 'first-day', ui.typed['first-day'] ?? firstDay)}
${textField('Subject', 'subject', ui.typed['subject'] ?? subject)}
${textArea('Message', 'message', ui.typed['message'] ?? message)}${submitButton('Save changes')}`;
  return settings('Vacation', commandForm('save-vacation', {}, form));
}

export function filtersPage({ data, ui }: MailView): Page {
  const rows = data.filters.map(
    (
      filter,
    ) => html`<li class="row"><div class="grow">From ${filter.from} with "${filter.words}": ${filter.label}</div>
${commandButton('delete-filter', { id: filter.id }, 'Delete', 'danger')}</li>`,
  );
  const options = [{ value: '', label: 'Choose a label' }, ...choices(LABELS)];
  const form = html`${textField('From', 'from', ui.typed['from'] ?? '')}
${textField('Has the words', 'words', ui.typed['words'] ?? '')}
${selectField('Label', 'label', options, ui.typed['label'] ?? '')}${submitButton('Create filter')}`;
  const content = html`<ul class="rows">${rows}</ul><h2>New filter</h2>${commandForm('create-filter', {}, form)}`;
  return settings('Filters', content);
}

/** Stands before some tasks: has to be dismissed before anything else can be reached. */
export function newsDialog(): Html {
  return dialogBox('What is new', html`<p>You can now sort your emails into folders.</p>`, 'Dismiss');
}

export const mailSearch = (url: URL): Html =>
  searchForm('/search', 'Search', url.pathname === '/search' ? (url.searchParams.get('q') ?? '') : '');

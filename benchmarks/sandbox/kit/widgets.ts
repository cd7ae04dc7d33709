import { readFileSync } from 'node:fs';
import type { Page, Ui, View } from './app.ts';
import { type Html, html, type Part } from './html.ts';

const SCRIPT: Html = { markup: readFileSync(new URL('./client.js', import.meta.url), 'utf8') };
const STYLE: Html = { markup: readFileSync(new URL('./style.css', import.meta.url), 'utf8') };

/** A whole document. Nothing in it refers to anything outside: the empty icon spares the browser a request. */
export function documentOf(title: string, body: Html): string {
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="icon" href="data:,"><script>${SCRIPT}</script><style>${STYLE}</style></head><body>${body}</body></html>`;
  return page.markup;
}

export interface NavigationLink {
  readonly href: string;
  readonly label: string;
}

/** `plain` links load a whole new document, the others replace the body in place. */
export function navigation(view: View<unknown>, links: readonly NavigationLink[], plain: boolean): Html {
  const items = links.map(({ href, label }) => {
    const current = view.url.pathname === href && html` aria-current="page"`;
    return html`<a href="${href}"${plain && html` data-plain`}${current}>${label}</a>`;
  });
  return html`<nav class="side" aria-label="Main">${items}</nav>`;
}

export function searchForm(action: string, label: string, query: string): Html {
  return html`<form method="get" action="${action}" role="search">
<input type="search" name="q" aria-label="${label}" placeholder="${label}" value="${query}">
<button>Search</button></form>`;
}

export function shell(brand: string, search: Html, side: Html, view: View<unknown>, page: Page): Html {
  return html`<header><strong>${brand}</strong>${search}</header>
<div class="shell">${side}<main>${notice(view.ui)}${page.main}</main></div>${page.dialog}`;
}

function notice(ui: Ui): Html | null {
  return ui.notice && html`<p class="notice" role="${ui.notice.tone}">${ui.notice.text}</p>`;
}

type Hidden = Readonly<Record<string, string | number>>;

function hiddenFields(fields: Hidden): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

export function commandForm(command: string, fields: Hidden, content: Part): Html {
  return html`<form method="post" action="/do/${command}" novalidate>${hiddenFields(fields)}${content}</form>`;
}

export type ButtonLook = 'plain' | 'primary' | 'danger';

export function submitButton(label: string, look: ButtonLook = 'primary'): Html {
  return html`<button class="${look}">${label}</button>`;
}

/** A button that is a command of its own. */
export function commandButton(
  command: string,
  fields: Hidden,
  label: string,
  look: ButtonLook = 'plain',
): Html {
  return commandForm(command, fields, submitButton(label, look));
}

export function dialogButton(
  dialog: string,
  subject: string | number,
  label: string,
  look: ButtonLook = 'plain',
): Html {
  return commandButton('open-dialog', { dialog, subject }, label, look);
}

/** Covers the page. `dismiss` closes it without doing anything, as Escape does. */
export function dialogBox(title: string, content: Part, dismiss: string): Html {
  return html`<div class="overlay"><div class="modal" role="dialog" aria-modal="true" aria-label="${title}">
<h2>${title}</h2>${content}
<form method="post" action="/do/close-dialog"><button data-dismiss>${dismiss}</button></form></div></div>`;
}

export function textField(label: string, name: string, value: string): Html {
  return html`<div class="field"><label for="${name}">${label}</label>
<input type="text" id="${name}" name="${name}" value="${value}" autocomplete="off"></div>`;
}

export function textArea(label: string, name: string, value: string): Html {
  return html`<div class="field"><label for="${name}">${label}</label>
<textarea id="${name}" name="${name}">${value}</textarea></div>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export const choices = (labels: readonly string[]): Choice[] =>
  labels.map((label) => ({ value: label, label }));

/** `autosubmit`: choosing is enough, there is no button to press. */
export function selectField(
  label: string,
  name: string,
  options: readonly Choice[],
  value: string,
  autosubmit = false,
): Html {
  const items = options.map(
    (option) =>
      html`<option value="${option.value}"${option.value === value && html` selected`}>${option.label}</option>`,
  );
  return html`<div class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}"${autosubmit && html` data-autosubmit`}>${items}</select></div>`;
}

export function radioGroup(legend: string, name: string, options: readonly Choice[], value: string): Html {
  const items = options.map(
    (option) =>
      html`<label><input type="radio" name="${name}" value="${option.value}"${
        option.value === value && html` checked`
      }> ${option.label}</label>`,
  );
  return html`<fieldset><legend>${legend}</legend>${items}</fieldset>`;
}

export function checkbox(label: string, name: string, value: string, checked: boolean): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${
    checked && html` checked`
  }> ${label}</label>`;
}

/** A list box made of buttons, closed until its button is pressed; the button's name is `Label: choice`. */
export function dropdown(
  label: string,
  name: string,
  options: readonly Choice[],
  value: string,
  autosubmit = false,
): Html {
  const chosen = options.find((option) => option.value === value)?.label ?? 'Choose';
  const items = options.map(
    (option) =>
      html`<button type="button" role="option" value="${option.value}" aria-selected="${String(option.value === value)}">${option.label}</button>`,
  );
  return html`<div class="field" data-dropdown="${label}"${autosubmit && html` data-autosubmit`}>
<input type="hidden" name="${name}" value="${value}">
<button type="button" aria-haspopup="listbox" aria-expanded="false">${label}: ${chosen}</button><div role="listbox" aria-label="${label}" hidden>${items}</div></div>`;
}

/** Rows on one page of a list: more than fit on the screen. */
export const PAGE_SIZE = 8;

/** One page of a longer list. Pages count from 1; a page that does not exist shows the nearest one. */
export function paginate<T>(
  items: readonly T[],
  url: URL,
): { readonly shown: readonly T[]; readonly pager: Html | null } {
  const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
  const asked = Number(url.searchParams.get('page') ?? '1');
  const page = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), pages) : 1;
  const shown = items.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const pager =
    pages > 1 &&
    html`<div class="bar" role="navigation" aria-label="Pages">${page > 1 && pageLink(url, page - 1, 'Previous page')}
<span>Page ${page} of ${pages}</span>${page < pages && pageLink(url, page + 1, 'Next page')}</div>`;
  return { shown, pager: pager || null };
}

function pageLink(url: URL, page: number, label: string): Html {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  return html`<a class="button" href="${target.pathname + target.search}">${label}</a>`;
}

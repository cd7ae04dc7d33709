import { z } from 'zod';
import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { type Command, done, type Effect, refuse } from './command.ts';
import type { Html } from './html.ts';
import type { Template } from './template.ts';

/** What the page shows beside the data: forgotten as soon as another URL is visited. */
export const uiSchema = z.strictObject({
  /** Path and query of the page being shown. */
  url: z.string(),
  notice: z.nullable(z.strictObject({ tone: z.enum(['status', 'alert']), text: z.string() })),
  /** Open pseudo-dialog; `subject` is the id of what it is about, '' if nothing. */
  dialog: z.nullable(z.strictObject({ name: z.string(), subject: z.string() })),
  /** Fields of a refused form, so that nothing has to be typed twice. */
  typed: z.record(z.string(), z.string()),
});
export type Ui = z.infer<typeof uiSchema>;

/** The whole state of an application: plain JSON, digested as it is. */
export interface AppState<D> {
  readonly data: D;
  readonly ui: Ui;
}

export interface View<D> {
  readonly data: D;
  readonly ui: Ui;
  readonly url: URL;
}

export interface Page {
  readonly title: string;
  readonly main: Html;
  readonly dialog: Html | null;
}

/** One application: state and pages as pure functions, tasks as templates over the seeded data. */
export interface AppSpec<D> {
  readonly name: string;
  /** Path of the page on which every task starts. */
  readonly home: string;
  readonly schema: z.ZodType<D>;
  readonly seed: (random: RandomGenerator) => D;
  /** What merely opening a page changes (an e-mail becomes read). */
  readonly visit: (data: D, path: string) => D;
  readonly commands: Readonly<Record<string, Command<D>>>;
  /** Null where the application has no such page. */
  readonly render: (view: View<D>) => Page | null;
  /** Everything around the page: header, navigation. */
  readonly frame: (view: View<D>, page: Page) => Html;
  /** The part of the data that outcome verifiers compare: without what may change in passing. */
  readonly settled: (data: D) => Readonly<Record<string, unknown>>;
  readonly templates: readonly Template<D>[];
}

export const hostOf = (app: string): string => `${app}.sandbox`;

export function startState<D>(data: D, url: string, dialog: string | null): AppState<D> {
  const open = dialog === null ? null : { name: dialog, subject: '' };
  return { data, ui: { url, notice: null, dialog: open, typed: {} } };
}

/** Shows a page: what another page had on screen is gone, a reload keeps it. */
export function visit<D>(app: AppSpec<D>, state: AppState<D>, url: URL): AppState<D> {
  const address = url.pathname + url.search;
  const data = app.visit(state.data, url.pathname);
  if (address === state.ui.url) return { data, ui: state.ui };
  return { data, ui: { url: address, notice: null, dialog: null, typed: {} } };
}

/**
 * Carries out one command that was given on the page `from` (path and query). `ui.url` of the result is the
 * page to show next.
 */
export function reduce<D>(
  app: AppSpec<D>,
  state: AppState<D>,
  command: { readonly name: string; readonly fields: URLSearchParams; readonly from: string },
): AppState<D> {
  const { name, fields, from } = command;
  const effect = effectOf(app, state.data, name, fields);
  const closed: Ui = { url: from, notice: null, dialog: null, typed: {} };
  switch (effect.kind) {
    case 'done': {
      const notice = effect.notice === '' ? null : ({ tone: 'status', text: effect.notice } as const);
      return { data: effect.data, ui: { ...closed, url: effect.goTo ?? from, notice } };
    }
    case 'ask':
      return { ...state, ui: { ...closed, dialog: { name: effect.dialog, subject: effect.subject } } };
    case 'refused': {
      const notice = { tone: 'alert', text: effect.message } as const;
      const dialog = from === state.ui.url ? state.ui.dialog : null;
      return { ...state, ui: { url: from, notice, dialog, typed: Object.fromEntries(fields) } };
    }
  }
}

function effectOf<D>(app: AppSpec<D>, data: D, name: string, fields: URLSearchParams): Effect<D> {
  if (name === 'open-dialog') {
    return { kind: 'ask', dialog: fields.get('dialog') ?? '', subject: fields.get('subject') ?? '' };
  }
  if (name === 'close-dialog') return done(data, '');
  const command = Object.hasOwn(app.commands, name) ? app.commands[name] : undefined;
  return command === undefined ? refuse('Unknown action.') : command(data, fields);
}

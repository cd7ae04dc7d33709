import { message, type Reply } from '../../kit/proxy.ts';
import { type AppSpec, type AppState, hostOf, reduce, visit } from './app.ts';
import type { AppServer } from './app-server.ts';
import { html } from './html.ts';
import { documentOf } from './widgets.ts';

/** One life of an application: the only mutable thing in it is the reference to its state. */
export interface AppSession<D> extends AppServer {
  state(): AppState<D>;
}

export function startSession<D>(app: AppSpec<D>, initial: AppState<D>): AppSession<D> {
  let state = initial;
  return {
    state: () => state,
    get(url) {
      const next = visit(app, state, url);
      const reply = show(app, next, url);
      // An address that leads nowhere changes nothing.
      if (reply.status === 200) state = next;
      return reply;
    },
    post(url, fields, referrer) {
      const name = /^\/do\/([a-z-]+)$/.exec(url.pathname)?.[1];
      if (name === undefined) return message(404, 'Not found.');
      state = reduce(app, state, { name, fields, from: pageOf(app.name, referrer) ?? state.ui.url });
      return { status: 303, headers: { location: state.ui.url }, body: '' };
    },
  };
}

function pageOf(app: string, referrer: string | null): string | null {
  const url = referrer === null ? null : URL.parse(referrer);
  return url?.host === hostOf(app) ? url.pathname + url.search : null;
}

function show<D>(app: AppSpec<D>, state: AppState<D>, url: URL): Reply {
  const view = { ...state, url };
  const page = app.render(view);
  const shown = page ?? { title: 'Not found', main: html`<h1>This page does not exist</h1>`, dialog: null };
  const body = documentOf(`${shown.title} - ${app.name}`, app.frame(view, shown));
  return { status: page === null ? 404 : 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

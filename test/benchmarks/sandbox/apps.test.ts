import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AppSpec,
  type AppState,
  reduce,
  startState,
  uiSchema,
  visit,
} from '../../../benchmarks/sandbox/kit/app.ts';
import { startSession } from '../../../benchmarks/sandbox/kit/session.ts';
import { mailApp } from '../../../benchmarks/sandbox/mail/app.ts';
import { shopApp } from '../../../benchmarks/sandbox/shop/app.ts';
import { trackerApp } from '../../../benchmarks/sandbox/tracker/app.ts';
import { randomGenerator } from '../../../workflows/method/random.ts';

/** Values that forms of any of the applications might carry, and some that they never would. */
const FIELD_NAMES = [
  'id',
  'folder',
  'label',
  'to',
  'subject',
  'message',
  'name',
  'email',
  'colour',
  'quantity',
  'coupon',
  'reason',
  'address',
  'delivery',
  'terms',
  'stars',
  'title',
  'currency',
  'project',
  'type',
  'priority',
  'assignee',
  'due',
  'resolution',
  'original',
  'issue',
  'role',
  'visibility',
  'dialog',
  'street',
  'city',
  'responder',
  'comment',
];
const FIELD_VALUES = [
  '1',
  '2',
  '12',
  '15',
  '101',
  '104',
  'Projects',
  'Finance',
  'dana@acme.example',
  'Blue',
  '9',
  'SPRING10',
  'Wrong size',
  'Express',
  'Euro',
  'Apollo',
  'Bug',
  'High',
  'Nobody',
  '2026-05-01',
  'Fixed',
  'APO-101',
  'Viewer',
  'Private',
  'delete',
  'move',
  'close',
  'labels',
  'cancel',
  'On',
  '',
  '<b>"x"</b>',
  '__proto__',
];
const FIELDS = fc
  .array(fc.tuple(fc.constantFrom(...FIELD_NAMES), fc.oneof(fc.constantFrom(...FIELD_VALUES), fc.string())), {
    maxLength: 8,
  })
  .map((pairs) => new URLSearchParams(pairs));

const PATHS: Readonly<Record<string, readonly string[]>> = {
  mail: [
    '/',
    '/inbox?page=2',
    '/inbox?filter=Unread',
    '/search?q=invoice',
    '/message/12',
    '/message/12/reply',
    '/message/12/forward',
    '/compose',
    '/contacts?name=a',
    '/contact/1',
    '/contact/1/edit',
    '/contact/new',
    '/settings',
    '/settings/vacation',
    '/settings/filters',
    '/sent',
    '/trash',
    '/nowhere',
  ],
  shop: [
    '/',
    '/products?category=Garden&order=Price%3A+low+to+high&page=9',
    '/search?q=kettle',
    '/product/12',
    '/product/12/review',
    '/wishlist',
    '/cart',
    '/checkout/address',
    '/checkout/delivery',
    '/checkout/review',
    '/orders',
    '/account',
    '/account/preferences',
    '/account/addresses',
    '/account/addresses/new',
    '/nowhere',
  ],
  tracker: [
    '/',
    '/issues?status=Open&project=Comet',
    '/search?q=login',
    '/issue/new',
    '/projects',
    '/project/apollo',
    '/project/apollo/settings',
    '/milestones',
    '/milestone/2',
    '/members',
    '/members/invite',
    '/nowhere',
  ],
};

type Event = { readonly path: string } | { readonly command: string; readonly fields: URLSearchParams };

function eventsOf(app: string, commands: readonly string[]): fc.Arbitrary<Event[]> {
  const visits = fc.constantFrom(...(PATHS[app] ?? ['/'])).map((path) => ({ path }));
  const names = fc.constantFrom(...commands, 'open-dialog', 'close-dialog', 'constructor');
  const orders = fc.record({ command: names, fields: FIELDS });
  return fc.array(fc.oneof(visits, orders), { maxLength: 12 });
}

function play<D>(app: AppSpec<D>, state: AppState<D>, events: readonly Event[]): AppState<D> {
  return events.reduce((before, event) => {
    if ('path' in event) return visit(app, before, new URL(event.path, `http://${app.name}.sandbox`));
    return reduce(app, before, { name: event.command, fields: event.fields, from: before.ui.url });
  }, state);
}

function checkApp<D>(app: AppSpec<D>): void {
  const base = `http://${app.name}.sandbox`;
  const initial = startState(app.seed(randomGenerator(['test', app.name])), '/', null);
  const schema = z.strictObject({ data: app.schema, ui: uiSchema });
  const events = eventsOf(app.name, Object.keys(app.commands));

  describe(app.name, () => {
    test('any sequence of commands leaves a valid state of plain JSON', () => {
      fc.assert(
        fc.property(events, (sequence) => {
          const state = play(app, initial, sequence);
          expect(schema.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
        }),
      );
    });

    test('the same sequence gives the same bytes and leaves what it started from alone', () => {
      const bytes = canonicalize(initial);
      fc.assert(
        fc.property(events, (sequence) => {
          expect(canonicalize(play(app, initial, sequence))).toBe(canonicalize(play(app, initial, sequence)));
          expect(canonicalize(initial)).toBe(bytes);
        }),
      );
    });

    test('every page renders in every reachable state', () => {
      fc.assert(
        fc.property(events, (sequence) => {
          const session = startSession(app, play(app, initial, sequence));
          for (const path of PATHS[app.name] ?? []) {
            const reply = session.get(new URL(path, base));
            if (path === '/nowhere') expect(reply.status).toBe(404);
            expect(reply.body).not.toMatch(/undefined|\[object|NaN/);
          }
        }),
        { numRuns: 30 },
      );
    });

    test('a reload keeps what is on screen, another page forgets it', () => {
      const session = startSession(app, initial);
      session.post(new URL('/do/nonsense', base), new URLSearchParams(), `${base}/`);
      session.get(new URL('/', base));
      expect(session.get(new URL('/', base)).body).toContain('Unknown action.');
      session.get(new URL('/?page=2', base));
      expect(session.get(new URL('/', base)).body).not.toContain('Unknown action.');
    });

    test('an address that leads nowhere changes nothing', () => {
      const session = startSession(app, initial);
      session.get(new URL('/nowhere', base));
      expect(session.state()).toEqual(initial);
    });
  });
}

checkApp(mailApp);
checkApp(shopApp);
checkApp(trackerApp);

test('a refused form keeps what was typed', () => {
  const session = startSession(
    mailApp,
    startState(mailApp.seed(randomGenerator(['test'])), '/compose', null),
  );
  const fields = new URLSearchParams({ to: 'nobody', subject: 'Typed once', message: 'Hello' });
  session.post(new URL('http://mail.sandbox/do/send'), fields, 'http://mail.sandbox/compose');
  const { body } = session.get(new URL('http://mail.sandbox/compose'));
  expect(body).toContain('Enter the email address');
  expect(body).toContain('value="Typed once"');
});

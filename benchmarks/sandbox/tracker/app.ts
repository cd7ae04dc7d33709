import type { AppSpec, Page, View } from '../kit/app.ts';
import { navigation, searchForm, shell } from '../kit/widgets.ts';
import { trackerCommands } from './commands.ts';
import { seedTracker, type TrackerData, trackerSchema } from './data.ts';
import { issuePage, issuesPage, newIssuePage, searchPage } from './issue-pages.ts';
import {
  invitePage,
  membersPage,
  milestonePage,
  milestonesPage,
  projectPage,
  projectsPage,
  tour,
} from './project-pages.ts';
import { trackerTemplates } from './templates.ts';

type TrackerView = View<TrackerData>;

const LINKS = [
  { href: '/issues', label: 'Issues' },
  { href: '/issue/new', label: 'New issue' },
  { href: '/projects', label: 'Projects' },
  { href: '/milestones', label: 'Milestones' },
  { href: '/members', label: 'Members' },
];

const PAGES: Readonly<Record<string, (view: TrackerView) => Page>> = {
  '/': issuesPage,
  '/issues': issuesPage,
  '/issue/new': newIssuePage,
  '/search': searchPage,
  '/projects': projectsPage,
  '/milestones': milestonesPage,
  '/members': membersPage,
  '/members/invite': invitePage,
};

function pageAt(view: TrackerView): Page | null {
  const fixed = PAGES[view.url.pathname];
  if (fixed !== undefined) return fixed(view);
  const [, kind, id = '', section = ''] = view.url.pathname.split('/');
  if (kind === 'project') return projectPage(view, id, section);
  if (kind === 'issue' && section === '') return issuePage(view, id);
  if (kind === 'milestone' && section === '') return milestonePage(view, id);
  return null;
}

function render(view: TrackerView): Page | null {
  const page = pageAt(view);
  const covered = page !== null && view.ui.dialog?.name === 'tour';
  return covered ? { ...page, dialog: tour() } : page;
}

export const trackerApp: AppSpec<TrackerData> = {
  name: 'tracker',
  home: '/issues',
  schema: trackerSchema,
  seed: seedTracker,
  visit: (data) => data,
  commands: trackerCommands,
  render,
  frame: (view, page) => {
    const query = view.url.pathname === '/search' ? (view.url.searchParams.get('q') ?? '') : '';
    return shell(
      'Tracker',
      searchForm('/search', 'Search', query),
      navigation(view, LINKS, false),
      view,
      page,
    );
  },
  settled: (data) => data,
  templates: trackerTemplates,
};

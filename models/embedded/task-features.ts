/** What is asked for, and how the rollout stands: one side of the embedded policy's bilinear score. */
import type { Task } from '../../benchmarks/contract.ts';
import { featureSpace } from './features.ts';
import type { PageReading } from './page-reading.ts';
import type { ActiveFeatures } from './scoring.ts';
import type { TaskReading } from './task-reading.ts';
import { verbGroups } from './words.ts';

export const taskFeatureSpace = featureSpace([
  'always',
  'asks',
  'asks-how-many',
  'asks-who',
  'asks-when',
  'asks-money',
  ...verbGroups.map((group) => `verb-${group}` as const),
  'dialog-open',
  'last-failed',
  'notice',
  'notice-fits',
  'alert',
  'no-terms',
  'no-term-used',
  'all-terms-used',
  'term-visible',
  'all-terms-visible',
  'quoted-visible',
  'term-waits-here',
  'on-term-page',
  'form-open',
  'typed-last',
  'first-step',
  'late',
]);

export function taskFeatures(
  task: Pick<Task, 'expectsAnswer' | 'maxSteps'>,
  reading: TaskReading,
  page: PageReading,
): ActiveFeatures {
  const { terms, verbs } = reading;
  const { notice, past, usedTerms, visibleTerms } = page;
  return taskFeatureSpace.encode({
    always: true,
    asks: task.expectsAnswer,
    'asks-how-many': reading.asksHowMany,
    'asks-who': reading.asksWho,
    'asks-when': reading.asksWhen,
    'asks-money': reading.asksMoney,
    ...Object.fromEntries(verbGroups.map((group) => [`verb-${group}`, verbs.has(group)])),
    'dialog-open': page.dialogOpen,
    'last-failed': past.last !== null && !past.last.result.ok,
    notice: notice !== null,
    'notice-fits': notice !== null && notice.asked > 0,
    alert: page.alert,
    'no-terms': terms.length === 0,
    'no-term-used': terms.length > 0 && usedTerms.size === 0,
    'all-terms-used': terms.length > 0 && usedTerms.size === terms.length,
    'term-visible': visibleTerms.size > 0,
    'all-terms-visible': terms.length > 0 && visibleTerms.size === terms.length,
    'quoted-visible': terms.some(({ kind }, term) => kind === 'quoted' && visibleTerms.has(term)),
    'term-waits-here': [...page.fits.values()].some((fits) =>
      fits.some((fit, term) => fit > 0 && !usedTerms.has(term)),
    ),
    'on-term-page': page.title.terms.length > 0,
    'form-open': page.elements.filter(({ editable }) => editable).length >= 2,
    'typed-last': past.last?.action.tool === 'type' && !past.last.action.submit,
    'first-step': past.steps === 0,
    late: past.steps >= task.maxSteps / 2,
  });
}

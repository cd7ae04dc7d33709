import { describe, expect, test } from 'vitest';
import type { Observation, Task, TraceStep } from '../../../benchmarks/contract.ts';
import { candidateFeatureSpace } from '../../../models/embedded/candidate-features.ts';
import { readRequest } from '../../../models/embedded/policy.ts';
import { taskFeatureSpace } from '../../../models/embedded/task-features.ts';
import { readTask } from '../../../models/embedded/task-reading.ts';
import { stemsOf, verbsAmong } from '../../../models/embedded/words.ts';
import { click, element, page, target, task, trace } from './support.ts';

function flagsOf(given: { task?: Task; observation: Observation; history?: readonly TraceStep[] }) {
  const { candidates, features } = readRequest({ task: task(), history: [], ...given });
  const named = (indices: readonly number[], names: readonly string[]) =>
    indices.map((index) => names[index] ?? '?');
  return {
    task: named(features.task, taskFeatureSpace.names),
    of: (matches: (action: (typeof candidates)[number]['action']) => boolean): string[] => {
      const index = candidates.findIndex(({ action }) => matches(action));
      return named(features.candidates[index] ?? [], candidateFeatureSpace.names);
    },
  };
}

describe('words', () => {
  test('forms of one word share a stem', () => {
    for (const forms of [
      ['archive', 'archived', 'archives'],
      ['reply', 'replied', 'replies'],
      ['star', 'starred'],
      ['delete', 'deleted'],
    ]) {
      expect(new Set(forms.flatMap((form) => stemsOf(form))).size, forms.join()).toBe(1);
    }
  });

  test('words are grouped by what they do, and a word may do several things', () => {
    expect([...verbsAmong(stemsOf('Archived'))]).toEqual(['close']);
    expect([...verbsAmong(stemsOf('Remove filter'))].toSorted()).toEqual(['delete', 'search']);
    expect([...verbsAmong(stemsOf('Quarterly figures'))]).toEqual([]);
  });
});

describe('reading an instruction', () => {
  const { terms } = readTask({
    instruction:
      'Add the contact "Ann Lee" with the email ann.lee@acme.example, the company "Acme", the street "5 High Street" and the day 2026-04-01.',
  });

  test('keeps quoted strings whole and leaves out what is only a part of another term', () => {
    expect(terms.map(({ text }) => text)).toEqual([
      'Ann Lee',
      'Acme',
      '5 High Street',
      'ann.lee@acme.example',
      '2026-04-01',
    ]);
  });

  test('tells kinds of terms and the words that lead to them', () => {
    const kinds = Object.fromEntries(terms.map(({ text, kind }) => [text, kind]));
    expect(kinds).toMatchObject({
      'Ann Lee': 'quoted',
      'ann.lee@acme.example': 'email',
      '2026-04-01': 'date',
    });
    expect(terms.find(({ text }) => text === '5 High Street')?.lead[0]).toBe('street');
  });

  test('a sentence that begins with a verb and a name is about the name', () => {
    const names = readTask({ instruction: 'Email Sarah Chen about the offer.' }).terms.map(
      ({ text }) => text,
    );
    expect(names).toEqual(['Sarah Chen']);
  });
});

describe('candidate features', () => {
  const form = {
    task: task({ instruction: 'Send an email with the subject "Plans" and the message "See you".' }),
    observation: page([
      element({ ref: 's', role: 'textbox', name: 'Subject', value: '' }),
      element({ ref: 'm', role: 'textbox', name: 'Message', value: '' }),
    ]),
  };
  const typing =
    (ref: string, text: string) => (action: { tool: string; ref?: string | null; text?: string }) =>
      action.tool === 'type' && action.ref === ref && action.text === text;

  test('tell which term belongs into which field', () => {
    const { of } = flagsOf(form);
    expect(of(typing('s', 'Plans'))).toEqual(
      expect.arrayContaining(['field-fits-term', 'field-best-for-term', 'term-best-for-field']),
    );
    expect(of(typing('s', 'See you'))).not.toContain('field-fits-term');
    expect(of(typing('m', 'See you'))).toContain('field-best-for-term');
  });

  test('a row with the term stands out from a row without it', () => {
    const rows = page([
      element({ ref: 'a', role: 'button', name: 'Archive', context: 'Booking of office move Mei Chen' }),
      element({ ref: 'b', role: 'button', name: 'Archive', context: 'Minutes of garden party Omar Lin' }),
    ]);
    const { of } = flagsOf({ observation: rows });
    const right = of((action) => action.tool === 'click' && action.ref === 'a');
    const wrong = of((action) => action.tool === 'click' && action.ref === 'b');
    expect(right).toEqual(expect.arrayContaining(['context-has-quoted', 'context-most-terms', 'does-asked']));
    expect(wrong).toContain('does-asked');
    expect(wrong).not.toContain('context-has-term');
  });

  test('what was done, failed or covered is marked, also after the page gave it another ref', () => {
    const archive = { role: 'button', name: 'Archive', context: 'a row' } as const;
    const observation = page([element({ ref: 'new', ...archive, coveredBy: 'News' })]);
    const { of } = flagsOf({
      observation,
      history: trace(
        { action: click('old'), target: archive },
        { action: click('old'), target: archive, result: { ok: false, code: 'covered', message: 'News' } },
      ),
    });
    expect(of(({ tool }) => tool === 'click')).toEqual(
      expect.arrayContaining(['covered', 'done-before', 'failed-before', 'done-last']),
    );
  });

  test('a destructive control stands out only where nobody asked to destroy', () => {
    const observation = page([element({ ref: 'd', role: 'button', name: 'Delete' })]);
    const isClick = ({ tool }: { tool: string }) => tool === 'click';
    expect(flagsOf({ observation }).of(isClick)).toContain('destroys-unasked');
    const asked = task({ instruction: 'Delete the email "Plans".' });
    expect(flagsOf({ observation, task: asked }).of(isClick)).not.toContain('destroys-unasked');
  });
});

describe('task features', () => {
  const terms = task({ instruction: 'Create a contact with the name "Ann Lee" and the company "Acme".' });
  const type = (text: string): Pick<TraceStep, 'action' | 'target'> => ({
    action: { tool: 'type', ref: 'e', text, clear: true, submit: false },
    target: target('textbox', 'Name'),
  });

  test('a term counts as used while it stands in a field or was sent off, and no longer once it is left behind', () => {
    const observation = page([]);
    const both = [type('Ann Lee'), type('Acme')];
    const used = (history: TraceStep[]) => flagsOf({ task: terms, observation, history }).task;
    expect(used([])).toContain('no-term-used');
    expect(used(trace(...both))).toContain('all-terms-used');
    expect(used(trace(...both, { action: click('s'), target: target('button', 'Save') }))).toContain(
      'all-terms-used',
    );
    const left = trace(...both, { action: click('i'), target: target('link', 'Inbox') });
    expect(used(left)).toContain('no-term-used');
  });

  test('feedback of the page is noticed, and told apart from a refusal', () => {
    const saved = flagsOf({
      task: terms,
      observation: page([], { text: 'Mail\nContact saved.\nAnn Lee' }),
    }).task;
    expect(saved).toEqual(expect.arrayContaining(['notice', 'notice-fits']));
    expect(saved).not.toContain('alert');
    expect(flagsOf({ task: terms, observation: page([], { text: 'Mail\nEnter a name.' }) }).task).toContain(
      'alert',
    );
    expect(flagsOf({ task: terms, observation: page([], { text: 'Mail\nContacts' }) }).task).not.toContain(
      'notice',
    );
  });

  test('every feature has one name', () => {
    for (const { names } of [taskFeatureSpace, candidateFeatureSpace]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Observation, ObservedElement } from '../../../benchmarks/contract.ts';
import { locate, locatorSchema, NotLocated } from '../../../cli/rollout/locate.ts';

function page(...elements: readonly Partial<ObservedElement>[]): Observation {
  const whole = elements.map(
    (element, index): ObservedElement => ({
      ref: `e${index + 1}`,
      role: 'button',
      name: '',
      value: null,
      options: [],
      states: [],
      context: '',
      heading: '',
      coveredBy: null,
      ...element,
    }),
  );
  return {
    ...{ url: 'http://app.test/', title: '', tabs: [], elements: whole, text: '' },
    ...{ scroll: { topPx: 0, heightPx: 0, viewportPx: 0 }, truncated: false },
  };
}

describe('a locator', () => {
  it('takes a whole name before a part of one, whatever the letter case and spacing', () => {
    const seen = page({ name: 'Save as draft' }, { name: ' save ' }, { name: 'Saved' });
    expect(locate(seen, { name: 'Save' }).ref).toBe('e2');
    expect(locate(seen, { name: 'as draft' }).ref).toBe('e1');
  });

  it('tells equal names apart by role, row, heading and value', () => {
    const seen = page(
      { name: 'Edit', context: 'Ann | Edit' },
      { name: 'Edit', context: 'Bob | Edit' },
      { name: 'Edit', role: 'link', heading: 'Cards' },
      { name: 'Edit', role: 'textbox', value: 'Bob' },
    );
    expect(locate(seen, { name: 'Edit', context: 'bob' }).ref).toBe('e2');
    expect(locate(seen, { heading: 'cards' }).ref).toBe('e3');
    expect(locate(seen, { value: 'bob' }).ref).toBe('e4');
    expect(locate(seen, { role: 'button', nth: 1 }).ref).toBe('e2');
  });

  it('passes over what is covered while something else fits', () => {
    const covered = { name: 'Save', coveredBy: 'New label' };
    expect(locate(page(covered, { name: 'Save' }), { name: 'Save' }).ref).toBe('e2');
    expect(locate(page(covered), { name: 'Save' }).ref).toBe('e1');
  });

  it('that fits nothing lists what comes near, the nearest first', () => {
    const seen = page(
      { name: 'Archive' },
      { name: 'Star mail', context: 'Invoice' },
      { name: 'Delete mail' },
    );
    const locating = () => locate(seen, { name: 'Star the mail' });
    expect(locating).toThrow(NotLocated);
    expect(locating).toThrow(
      /fits nothing; near it: button "Star mail" context "Invoice"; button "Delete mail"$/,
    );
  });

  it('that fits several lists them with the number that would choose each', () => {
    const seen = page({ name: 'Edit', context: 'Ann' }, { name: 'Edit', context: 'Bob' });
    expect(() => locate(seen, { name: 'Edit' })).toThrow(
      /fits 2 elements, say which: nth 0: button "Edit" context "Ann"; nth 1: button "Edit" context "Bob"/,
    );
    expect(() => locate(seen, { name: 'Edit', nth: 2 })).toThrow(/fits only nth 0/);
  });

  it('must describe something', () => {
    expect(locatorSchema.safeParse({ nth: 0 }).success).toBe(false);
    expect(locatorSchema.safeParse({ selector: '#save' }).success).toBe(false);
  });

  it('made of everything that is known of an element finds an element that reads the same', () => {
    const words = fc.stringMatching(/^[A-Z][a-z]{0,3}( [a-z]{1,3})?$/);
    const element = fc.record({ role: fc.constantFrom('button', 'link'), name: words, context: words });
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 8 }), fc.nat(), (elements, pick) => {
        const wanted = elements[pick % elements.length] ?? { role: '', name: '', context: '' };
        const { role, name, context } = locate(page(...elements), { ...wanted, nth: 0 });
        expect({ role, name }).toEqual({ role: wanted.role, name: wanted.name });
        expect(context.toLowerCase()).toContain(wanted.context.toLowerCase());
      }),
    );
  });
});

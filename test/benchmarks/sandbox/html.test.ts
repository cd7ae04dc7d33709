import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from '../../../benchmarks/sandbox/kit/html.ts';

const decode = (markup: string): string =>
  markup
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

test('text can never become markup, and nothing of it is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const { markup } = html`${text}`;
      expect(markup).not.toMatch(/[<>"']/);
      expect(decode(markup)).toBe(text);
    }),
  );
});

test('markup made by the tag is kept as it is, lists are joined, null and false leave nothing', () => {
  const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`);
  const { markup } = html`<ul>${items}</ul>${null}${false}${0}`;
  expect(markup).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>0');
});

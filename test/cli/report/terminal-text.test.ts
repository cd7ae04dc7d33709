import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { table } from '../../../cli/report/table.ts';
import {
  fenced,
  fields,
  jsonLine,
  paragraph,
  plainPaint,
  safeLine,
} from '../../../cli/report/terminal-text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 80 });
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text on a terminal', () => {
  test('a line that a page wrote holds no control, formatting or line-breaking character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(safeLine(text)).not.toMatch(invisible);
      }),
    );
    expect(safeLine('a\u001b[2Jb\r\nc\u202ed\u009be')).toBe('a [2Jb cd e');
  });

  test('ordinary text is left as it is', () => {
    expect(safeLine('Größe “L”, 漢字, 👍')).toBe('Größe “L”, 漢字, 👍');
  });

  test('a paragraph keeps to its width and begins with its prefix', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 12, max: 60 }), (text, width) => {
        const lines = paragraph(text, '>>  ', width);
        expect(lines.filter((line) => stringWidth(line) > width)).toEqual([]);
        expect(lines[0]?.startsWith('>>  ')).toBe(true);
      }),
    );
  });

  test('a paragraph loses no word', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(words, (given) => {
        const wrapped = paragraph(given.join(' '), '', 40);
        expect(wrapped.join(' ').split(/\s+/)).toEqual(given);
      }),
    );
  });

  test('nothing that a page wrote stands outside the fence', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), (texts) => {
        const [first, ...rest] = fenced(texts, 60);
        expect(first?.startsWith('┌')).toBe(true);
        expect(rest.at(-1)).toBe('└');
        expect(rest.slice(0, -1).filter((line) => !line.startsWith('│ '))).toEqual([]);
      }),
    );
  });

  test('names stand in one column and values in the other', () => {
    expect(
      fields([
        ['a', 'one'],
        ['long', 'two'],
      ]),
    ).toEqual(['a     one', 'long  two']);
  });
});

describe('one JSON document', () => {
  test('is one line without control characters and reads back as it was', () => {
    fc.assert(
      fc.property(fc.array(anyText), (value) => {
        const line = jsonLine(value);
        expect(line).not.toMatch(invisible);
        expect(JSON.parse(line)).toEqual(value);
      }),
    );
  });
});

describe('a table', () => {
  test('wraps the columns that may wrap, word by word and losing none, and cuts the others', () => {
    const text = 'Was an option named in the task chosen from a list of many options?';
    const lines = table(
      [{ title: 'question', wraps: true }, { title: 'key' }],
      [
        [text, 'KEY'],
        ['short', 'b'],
      ],
      plainPaint,
      30,
    );
    expect(lines.every((line) => stringWidth(line) <= 30)).toBe(true);
    const first = lines.slice(1, -1);
    expect(first.length).toBeGreaterThan(2);
    expect(first[0]).toMatch(/ KEY$/);
    expect(first.map((line) => line.replace(/ +KEY$/, '').trim()).join(' ')).toBe(text);
    expect(lines.at(-1)).toMatch(/^short +b$/);
  });

  test('cuts the widest column first and shows that it did', () => {
    const lines = table(
      [{ title: 'n', align: 'right' }, { title: 'text' }],
      [['7', 'x'.repeat(50)]],
      plainPaint,
      20,
    );
    expect(lines).toEqual(['n  text', `7  ${'x'.repeat(16)}…`]);
  });

  test('a name that a reader types again is cut last', () => {
    const columns = [{ title: 'run', whole: true }, { title: 'text' }];
    expect(table(columns, [['a-long-name', 'short text']], plainPaint, 18)[1]).toBe('a-long-name  shor…');
    expect(table(columns, [['a-long-name', 'short text']], plainPaint, 12)[1]).toBe('a-long…  sh…');
  });

  test('wide characters count for the two columns that they fill', () => {
    const lines = table(
      [{ title: 'a' }, { title: 'b' }],
      [
        ['漢字', 'x'],
        ['abcd', 'y'],
      ],
      plainPaint,
    );
    expect(lines).toEqual(['a     b', '漢字  x', 'abcd  y']);
  });

  test('paint never changes the layout', () => {
    const painted = table(
      [{ title: 'a' }, { title: 'b' }],
      [[{ text: 'failure', style: 'red' }, 'x']],
      (_, text) => `\u001b[31m${text}\u001b[39m`,
    );
    expect(painted.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual([
      'a        b',
      'failure  x',
    ]);
  });
});

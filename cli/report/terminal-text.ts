/** Text on a terminal: pages, agents and models wrote much of it, so none of it is printed as it came. */
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Columns that reports are laid out for. */
export const WIDTH = 110;

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';
export type Paint = (style: Style, text: string) => string;

/** Colours only where standard output is a terminal and NO_COLOR is unset. */
export const terminalPaint: Paint = (style, text) => styleText(style, text);
export const plainPaint: Paint = (_, text) => text;

/**
 * One line without control and formatting characters: an escape sequence, a carriage return or a change of writing
 * direction in a page's text could repaint what the report says.
 */
export function safeLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}

/** Cuts to `width` columns; a cut is shown by an ellipsis. */
export function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) {
    columns += stringWidth(segment);
    if (columns > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Pads to `width` columns, which wide characters fill two at a time. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return align === 'left' ? text + space : space + text;
}

/** Wraps to `width` columns; the first line begins with `prefix`, the others with as many spaces. */
export function paragraph(text: string, prefix = '', width = WIDTH): string[] {
  const room = width - stringWidth(prefix);
  return wrap(text, room).map((line, index) => (index === 0 ? prefix : ' '.repeat(width - room)) + line);
}

/** Lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines = wrapAnsi(safeLine(text), width, { hard: true }).split('\n');
  // A character that is wider than the line is left whole by wrapping.
  return lines.map((line) => cutTo(line, width));
}

/** Names in one column, values wrapped in the other. */
export function fields(rows: readonly Field[]): string[] {
  const names = rows.map(([name]) => cutTo(safeLine(name), LONGEST_NAME));
  const width = Math.max(0, ...names.map((name) => stringWidth(name))) + 2;
  return rows.flatMap(([, value], index) => paragraph(value, pad(names[index] ?? '', width)));
}

/** Leaves room for the values. */
const LONGEST_NAME = 70;

export type Field = readonly [name: string, value: string];

/** Marks off what pages, agents and models wrote, so that nobody takes it for the report's own words. */
export function fenced(texts: readonly string[], width = WIDTH): string[] {
  const lines = texts.flatMap((text) => paragraph(text, '', width - 2));
  return ['┌ written by pages, agents or models, not by clift', ...lines.map((line) => `│ ${line}`), '└'];
}

/** One JSON document on one line; control characters are escaped, also those that JSON itself lets through. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

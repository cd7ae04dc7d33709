import stringWidth from 'string-width';
import { cutTo, type Paint, pad, type Style, safeLine, WIDTH } from './terminal-text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

export type Cell = string | { readonly text: string; readonly style: Style };

const GAP = '  ';
const NARROWEST = 3;

/** Lines of a table of at most `width` columns; what does not fit is cut, the widest column first. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  width = WIDTH,
): string[] {
  const titles = columns.map(({ title }) => safeLine(title));
  const texts = rows.map((row) => row.map((cell) => safeLine(typeof cell === 'string' ? cell : cell.text)));
  const widths = columnWidths([titles, ...texts], width);
  const layOut = (row: readonly string[], style: (column: number) => Style | null): string =>
    columns
      .map(({ align }, column) => {
        const text = pad(cutTo(row[column] ?? '', widths[column] ?? 0), widths[column] ?? 0, align);
        const painted = style(column);
        return painted === null ? text : paint(painted, text);
      })
      .join(GAP)
      .trimEnd();
  return [
    layOut(titles, () => 'dim'),
    ...texts.map((row, index) => layOut(row, (column) => styleOf(rows[index]?.[column]))),
  ];
}

/** Of the titles' row and all others. */
function columnWidths(rows: readonly (readonly string[])[], width: number): readonly number[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))),
  );
  const available = width - GAP.length * (widths.length - 1);
  while (widths.reduce((sum, each) => sum + each, 0) > available) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= NARROWEST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const styleOf = (cell: Cell | undefined): Style | null =>
  cell === undefined || typeof cell === 'string' ? null : cell.style;
